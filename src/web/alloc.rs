//! The allocator of the wasm.

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

/// A sixth the size of the one in std, and as fast. It is not made for threads, which this target does not have.
#[global_allocator]
static ALLOCATOR: WasmDynamicTalc = new_wasm_dynamic_allocator();
