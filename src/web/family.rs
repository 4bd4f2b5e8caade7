//! The engine of one family of clients, its clock, and the commands that JavaScript has not taken yet.

use super::room::Room;
use super::told::{self, Kind, Row, row, with_text};
use crate::core::call::{AbortReason, Action, Command};
use crate::core::connectivity::Page;
use crate::core::engine::Engine;
use crate::core::registry::CircuitId;
use crate::core::time::{Clock, Instant, Span};

/// Browsers keep a delay in a signed 32-bit number and take a longer one for zero.
const LONGEST_TIMER: f64 = 0x7FFF_FFFF_u32 as f64;

/// A family of clients that share circuits: what `createFetch()` makes, with all that `extend()` makes of it.
pub struct Family {
    pub engine: Engine,
    pub clock: Clock,
    pub now: Instant,
    /// What is read by JavaScript after a call that says so.
    pub rows: Vec<Row>,
    pub room: Room,
    commands: Vec<Command>,
    taken: usize,
    /// A call that is over; its place is free once that has been told.
    over: Option<u32>,
    alarm: Option<(Instant, bool)>,
    listening: u32,
    version: u32,
}

impl Family {
    pub fn new(seed: u64, mono: f64, wall: f64, page: Page) -> Self {
        Self {
            engine: Engine::new(seed, page),
            clock: Clock::new(mono, wall),
            now: Instant::default(),
            rows: Vec::new(),
            room: Room::default(),
            commands: Vec::new(),
            taken: 0,
            over: None,
            alarm: None,
            listening: 0,
            version: 0,
        }
    }

    /// The text that was written, see `Room::text()`.
    pub fn text(&self, from: u32, bytes: i32) -> Option<&str> {
        self.room.text(from, bytes)
    }

    /// The key that was written, to be kept while the engine changes.
    pub fn key(&self, bytes: i32) -> Box<str> {
        self.text(0, bytes).unwrap_or_default().into()
    }

    fn tell(&mut self, (kind, row): (Kind, Row)) -> u32 {
        self.say(row);
        kind as u32
    }

    /// The one row that is read next.
    pub fn say(&mut self, row: Row) {
        self.rows.clear();
        self.rows.push(row);
    }

    /// The next command: its kind, and its numbers as a row. Zero when there is none: then the row is how long the
    /// timer runs (below zero: not at all; NaN: as it is), whether a call waits for it, what of the page is listened
    /// to (or NaN) and whether snapshots are out of date.
    pub fn next_command(&mut self) -> u32 {
        if let Some(slot) = self.over.take() {
            self.engine.remove(slot);
        }
        loop {
            if self.taken == self.commands.len() {
                self.commands.clear();
                self.taken = 0;
                self.engine.take_commands(&mut self.commands);
            }
            let Some(&command) = self.commands.get(self.taken) else { break };
            self.taken += 1;
            if let Some(told) = self.told(command) {
                return self.tell(told);
            }
        }
        let row = self.settled();
        self.say(row);
        0
    }

    fn told(&mut self, Command { slot, action }: Command) -> Option<(Kind, Row)> {
        let Self { engine, clock, .. } = self;
        let number = f64::from(slot);
        let current = |seq| engine.is_current(slot, seq);
        Some(match action {
            Action::Send { seq } if current(seq) => {
                let keep = engine.policy_of(slot).is_some_and(|policy| policy.retry.limit > 0);
                (Kind::Send, row([number, seq.into(), told::flag(keep)]))
            }
            // Where the end has overtaken the limit, its own abort comes next.
            Action::Abort { seq, why: AbortReason::Timeout } if !current(seq) => return None,
            Action::Abort { seq, why } => {
                let policy = engine.policy_of(slot);
                let (why, limit) = match why {
                    AbortReason::Cancelled => (0.0, None),
                    AbortReason::Timeout => (1.0, policy.and_then(|policy| policy.timeout)),
                    AbortReason::TotalTimeout => (2.0, policy.and_then(|policy| policy.total_timeout)),
                };
                (Kind::Abort, row([number, seq.into(), why, limit.unwrap_or(Span::MAX).as_ms()]))
            }
            Action::ReadBody { seq } => (Kind::ReadBody, row([number, seq.into()])),
            Action::Discard => (Kind::Discard, row([number])),
            // A listener that was just told may have given the call up.
            Action::AskShouldRetry { seq, attempt, delay } if current(seq) => {
                (Kind::Ask, row([number, seq.into(), 0.0, attempt.into(), told::shown(delay)]))
            }
            Action::AskDelay { seq, attempt, delay } if current(seq) => {
                (Kind::Ask, row([number, seq.into(), 1.0, attempt.into(), told::shown(delay)]))
            }
            Action::AskBeforeRetry { seq, attempt, delay } if current(seq) => {
                (Kind::Ask, row([number, seq.into(), 2.0, attempt.into(), told::shown(delay)]))
            }
            Action::Send { .. }
            | Action::AskShouldRetry { .. }
            | Action::AskDelay { .. }
            | Action::AskBeforeRetry { .. } => return None,
            Action::Failure { outcome, duration } => told::failure(number, outcome, duration),
            Action::State { attempt, view } => {
                let (kind, row) = told::state(number, attempt, view, clock);
                (kind, with_text(row, key_of(engine, slot)))
            }
            Action::Settle { attempt, end, carry } => {
                self.over = Some(slot);
                let (kind, row) = told::end(number, attempt, end, carry, clock);
                (kind, with_text(row, key_of(engine, slot)))
            }
            Action::Lock { seq } => (Kind::Lock, with_text(row([number, seq.into()]), key_of(engine, slot))),
            Action::Unlock { seq } => (Kind::Unlock, row([number, seq.into()])),
            Action::Circuit(view) => {
                let entry = engine.circuit(CircuitId(slot))?;
                let row = told::circuit(view, engine.open_for(view.status), clock);
                (Kind::Circuit, with_text(row, entry.key()))
            }
            Action::Share(news) => {
                let entry = engine.circuit(CircuitId(slot))?;
                (Kind::Share, with_text(told::news(news, clock, engine.tab()), entry.key()))
            }
        })
    }

    fn settled(&mut self) -> Row {
        let engine = &self.engine;
        let (busy, at) = (engine.is_busy(), engine.next_timeout());
        let now = engine.now();
        let alarm = at.map(|at| (at, busy));
        // One that is due rings as soon as it can.
        let rings = |alarm: Option<(Instant, bool)>| alarm.map(|(at, busy)| (at.max(now), busy));
        let ms = if rings(alarm) == rings(self.alarm) {
            f64::NAN
        } else {
            at.map_or(-1.0, |at| told::shown(at - now).min(LONGEST_TIMER))
        };
        self.alarm = alarm;
        // The page is listened to only while something depends on it.
        let listening = u32::from(busy) | u32::from(engine.needs_page()) << 1;
        let listen = if listening == self.listening { f64::NAN } else { listening.into() };
        self.listening = listening;
        let changed = engine.version() != self.version;
        self.version = engine.version();
        row([ms, told::flag(busy), listen, told::flag(changed)])
    }

    /// The timer is due: what is set now is a new one, even for the same moment.
    pub fn rang(&mut self) {
        self.alarm = None;
    }
}

fn key_of(engine: &Engine, slot: u32) -> &str {
    engine.circuit_of(slot).map(|entry| entry.key()).unwrap_or_default()
}
