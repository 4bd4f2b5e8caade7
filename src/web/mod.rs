//! The boundary: what JavaScript calls, and what it reads. It decides nothing, and imports nothing.
//!
//! There are two, each a wasm of its own, so that a page without an outbox has nothing of it: `exports` and what belongs
//! to it is for clients (feature `client`), `outbox` for `steadfetch/outbox` (feature `outbox`).
//!
//! Only numbers cross. Text and lists lie in memory, with a number to say where. `pkg-template/src/driver.ts` is the
//! other side: it tells a family what happened, then takes the commands that follow from it, one after the other, and
//! carries them out.

mod alloc;
#[cfg(feature = "client")]
pub mod exports;
#[cfg(feature = "client")]
pub mod family;
#[cfg(feature = "outbox")]
pub mod outbox;
#[cfg(feature = "client")]
mod policy;
mod room;
#[cfg(feature = "client")]
mod told;
