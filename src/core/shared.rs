//! What the tabs of an origin tell each other of a key, so that all of them have one circuit.
//!
//! Nothing is agreed on: each tab keeps deciding by itself, and what it hears moves it to where the others are. A
//! message that is lost or comes late costs a probe too many or a wait too long, never a circuit that is stuck: the
//! state of a circuit goes by its [`Stamp`], the latest wins; parking by the longest; budgets by what was spent and
//! earned. All of it is hostile input: nothing that is heard lasts longer than a day.

use super::breaker::Reason;
use super::time::{Instant, Span};

/// Orders the transitions of a circuit in all tabs: by a count, and among the same counts by the tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// One more than the highest that the tab had seen.
    pub count: u64,
    /// Which tab.
    pub tab: u32,
}

impl Stamp {
    /// The stamp of the next transition in this tab.
    pub const fn next(self, tab: u32) -> Self {
        Self { count: self.count.saturating_add(1), tab }
    }

    /// The stamp of another tab as it counts in this one: whoever writes any number on the channel cannot use up the
    /// numbers, and no tab is ever so far behind.
    pub fn within_reach(self, of: Self) -> Self {
        Self { count: self.count.min(of.count.saturating_add(Self::FARTHEST)), ..self }
    }

    const FARTHEST: u64 = 1 << 16;
}

/// What a tab tells of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum News {
    /// The circuit has opened, or closed.
    Circuit {
        /// Which transition.
        stamp: Stamp,
        /// Until when it is open; `None` is closed.
        until: Option<Instant>,
        /// How often that time was doubled.
        doublings: u32,
        /// Why.
        reason: Option<Reason>,
    },
    /// The server asked every call to stay away.
    Parked {
        /// Until when.
        until: Instant,
        /// The status that it came with; 0 takes it back, as a person does who resets the circuit.
        status: u16,
    },
    /// The budget has changed by so many thousandths of a token.
    Budget(i64),
    /// So many thousandths are left, told to a tab that has just come.
    Left(u64),
    /// A probe is out, at most until then.
    Probe(Instant),
}

/// The most that anyone is kept waiting by what another tab told, or by what was kept for a reload: either comes from
/// where anyone may have written it.
pub const LONGEST: Span = Span::from_secs(86_400);

/// A tab may die with its probe, or be left without news of its end: then another asks for the lock after this time.
pub const ASK_AGAIN: Span = Span::from_secs(1);

/// A browser that does not say by then who has the lock is taken for one without locks.
pub const LOCK_WITHIN: Span = Span::from_secs(3);

/// Tabs that come are answered no more often than this: one answer is for all of them.
pub const ANSWER_EVERY: Span = Span::from_secs(1);

/// Nobody waits longer than this for the probe of another tab, whatever it told.
pub const LONGEST_PROBE: Span = Span::from_secs(300);

/// What came of asking for the lock of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lock {
    /// No other tab has it, and none gets it as long as this one lives.
    Granted,
    /// The browser has no locks: the others are told how long to wait, and may have sent a probe already.
    Missing,
    /// Another tab has it.
    Taken,
}
