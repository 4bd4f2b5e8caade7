//! The two clocks, and the one timer of a client.

use std::cell::Cell;

use super::js::Host;
use crate::core::time::{Clock, Instant};

/// Browsers keep a delay in a signed 32-bit number and take a longer one for zero.
const LONGEST_TIMER: f64 = 0x7FFF_FFFF_u32 as f64;

/// Reads both clocks at each call, so that fake timers and sleeping machines are seen.
pub struct TwoClocks(Cell<Option<Clock>>);

impl TwoClocks {
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }

    pub fn now(&self, host: &Host) -> Instant {
        let (mono, wall) = (host.mono(), js_sys::Date::now());
        let mut clock = self.0.get().unwrap_or_else(|| Clock::new(mono, wall));
        let now = clock.read(mono, wall);
        self.0.set(Some(clock));
        now
    }

    /// In milliseconds since 1970, as of the last [`now`](Self::now).
    pub fn wall_ms(&self, at: Instant) -> f64 {
        self.0.get().map_or(f64::INFINITY, |clock| clock.wall_ms(at))
    }
}

/// The timer for the next deadline, whatever it is for; none while there is no deadline.
#[derive(Default)]
pub struct Alarm {
    /// When it rings, and whether a call waits for it.
    set: Cell<Option<(Instant, bool)>>,
}

impl Alarm {
    /// Rings at `at` or, where a timer cannot reach so far, on the way there.
    pub fn set(&self, at: Option<Instant>, now: Instant, busy: bool, host: &Host) {
        let wanted = at.map(|at| (at, busy));
        if self.set.replace(wanted) != wanted {
            let ms = at.map_or(-1.0, |at| (at - now).as_ms().ceil().min(LONGEST_TIMER));
            host.arm(ms, busy);
        }
    }

    /// To be called first when it rings: what is set now is a new timer, even for the same moment.
    pub fn rang(&self) {
        self.set.set(None);
    }
}
