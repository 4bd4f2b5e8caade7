//! The boundary: what JavaScript calls, and what it reads. It decides nothing, and imports nothing.
//!
//! Only numbers cross. Text and lists lie in memory, with a number to say where. `pkg-template/src/driver.ts` is the
//! other side: it tells a family what happened, then takes the commands that follow from it, one after the other, and
//! carries them out.

mod alloc;
pub mod exports;
pub mod family;
mod policy;
mod told;
