//! The pure core: no JavaScript, no clock, no randomness of its own. Time, random bits and outcomes come in as
//! values; what to do next comes out as commands.
#![forbid(unsafe_code)]

pub mod backoff;
pub mod breaker;
pub mod budget;
pub mod call;
pub mod classify;
pub mod connectivity;
pub mod engine;
pub mod hints;
pub mod keepalive;
pub mod line;
// What is there, if only to be left out, changes how the rest is compiled.
#[cfg(feature = "outbox")]
pub mod outbox;
pub mod policy;
pub mod ramp;
pub mod registry;
pub mod rng;
pub mod shared;
pub mod time;
pub mod timers;
