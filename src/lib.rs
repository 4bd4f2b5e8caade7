//! # steadfetch
//!
//! The browser's `fetch` in an abort-aware retry machine and a circuit breaker, which tells what is really going
//! on: loading, waiting with a countdown, offline, circuit open, exhausted, failed for good, cancelled.
//!
//! ## The house
//!
//! [`core`] decides. It is pure: time, random bits and outcomes come in as values, commands come out. It is built
//! and tested natively, and knows no browser.
//!
//! * [`core::call`] is one call, from the first attempt to the settled promise; [`core::policy`] its options,
//!   [`core::classify`] the table of what is retried, [`core::backoff`] and [`core::hints`] how long it waits,
//!   [`core::keepalive`] which attempts may outlive the page.
//! * [`core::breaker`] is one circuit, [`core::registry`] all of them, [`core::line`] who waits for one.
//! * [`core::engine`] is all calls of a client together: it hands each input to its call and keeps the deadlines
//!   ([`core::timers`]), on the two clocks of [`core::time`].
//!
//! * [`core::outbox`] is the writes that wait in a store, for `steadfetch/outbox`: their order, their expiry, and who of all
//!   tabs sends them. It hands each to a client of the above.
//!
//! `web` is the boundary and decides nothing: `exports` is what JavaScript calls, `family` an engine with its clock and
//! the commands that are not taken yet, `policy` reads options and `told` writes events, both as numbers. It is
//! compiled for wasm32 only.

pub mod core;

#[cfg(target_arch = "wasm32")]
pub mod web;
