//! The core by itself, in virtual time. One program, since linking is what takes long.
#![cfg(not(target_arch = "wasm32"))]

mod call;
mod circuit;
mod conformance;
mod edges;
mod hints;
mod late;
mod outbox;
mod properties;
mod reload;
#[path = "../sim/mod.rs"]
mod sim;
mod tabs;
mod waits;
