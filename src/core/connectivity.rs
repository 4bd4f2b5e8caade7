//! What the browser says about the network, and how far to believe it (semantics 8).

use super::time::Span;

/// An offline call is tried this often all the same, in case the browser is wrong.
pub const PROBE_EVERY: Span = Span::from_secs(30);

/// Calls go on within this time after the browser is back online, spread so that they do not come together.
pub const RESUME_WITHIN: Span = Span::from_secs(1);

/// The same where many clients share the server.
pub const RESUME_WITHIN_LARGE: Span = Span::from_secs(5);

/// The page as the core sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    /// `navigator.onLine`; only `false` is believed.
    pub online: bool,
    /// Not hidden: countdowns tick.
    pub visible: bool,
}

impl Default for Page {
    fn default() -> Self {
        Self { online: true, visible: true }
    }
}
