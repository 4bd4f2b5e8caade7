//! The browser's side. It holds no decision: what happens is handed to the core, and what the core commands is
//! carried out.
//!
//! No borrow is held while JavaScript runs: a listener, a hook or a `fetch` may call back into the client.

mod alloc;
pub mod client;
mod clock;
mod driver;
mod events;
pub mod js;
pub mod options;
