//! steadfetch.
#[cfg(target_arch = "wasm32")]
mod web {
    use wasm_bindgen::prelude::*;
    /// Placeholder while the house is being built.
    #[wasm_bindgen]
    pub fn hello() -> u32 {
        7
    }
}
