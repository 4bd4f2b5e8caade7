//! Where JavaScript writes what is more than a number.

use std::slice;

/// Numbers, or text, that are written before a call that says so.
#[derive(Default)]
pub struct Room(pub Vec<f64>);

impl Room {
    /// Room for so many bytes.
    #[inline(always)] // each is called in one place
    pub fn take(&mut self, bytes: u32) -> *mut f64 {
        let places = bytes.div_ceil(8) as usize;
        if self.0.len() < places {
            self.0.resize(places, 0.0);
        }
        self.0.as_mut_ptr()
    }

    /// The text that was written from that byte on; below zero there is none.
    pub fn text(&self, from: u32, bytes: i32) -> Option<&str> {
        let (from, bytes) = (from as usize, usize::try_from(bytes).ok()?);
        if from.checked_add(bytes)? > size_of_val(&*self.0) {
            return None;
        }
        // SAFETY: the bytes are within the room, and JavaScript writes text by TextEncoder, which writes UTF-8.
        unsafe {
            let bytes = slice::from_raw_parts(self.0.as_ptr().cast::<u8>().add(from), bytes);
            Some(str::from_utf8_unchecked(bytes))
        }
    }
}
