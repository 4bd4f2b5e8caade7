//! The outbox: which of the stored writes is sent when, and what becomes of it.
//!
//! Writes stand in queues, in each strictly first in, first out. Only the head of a queue moves: it is looked up in the
//! store, since another tab may have been faster, then sent, and leaves the store after its answer and not before. So it
//! is sent at least once, and once in effect where the server knows its Idempotency-Key again.
//!
//! One of all tabs is the sender. The others know the same entries, can cancel one or take it up again, and leave the
//! rest to the sender.

pub mod lease;
mod queues;
pub mod stamps;
mod verdict;

use std::collections::VecDeque;

use self::queues::Queues;
pub use self::verdict::Outcome;
use self::verdict::Verdict;
use super::backoff;
use super::policy::{Jitter, Retry};
use super::rng::Rng;
use super::time::{Instant, Span};
use super::timers::Timers;

/// What the outbox is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Entries that are older expire.
    pub max_age: Span,
    /// How many entries there may be, dead letters among them.
    pub max_entries: u32,
    /// How many bytes all bodies together may have.
    pub max_bytes: u64,
    /// Whether a dead letter holds up its queue.
    pub stop_on_rejected: bool,
}

/// Why an entry cannot be taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Its body alone is more than all may have.
    TooLarge,
    /// There is no room for it now.
    Full,
}

/// What is in the way of an attempt, as a person is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The outbox waits by its own account.
    Backoff,
    /// The server said when.
    Server,
    /// The circuit of its key is open.
    Circuit,
    /// The store does not answer.
    Store,
}

/// What the client does with an entry that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// A request is out, or about to be.
    Loading,
    /// It comes back to it then.
    Waiting {
        /// When.
        until: Instant,
        /// Why.
        cause: Cause,
    },
    /// The browser is offline.
    Offline,
}

/// What is written to the store about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It goes: the server has it.
    Deliver,
    /// It goes: it is too old.
    Expire,
    /// It goes: nobody wants it any more.
    Cancel,
    /// It stays as a dead letter, with the answer.
    Reject,
    /// A dead letter is to be sent again.
    Revive,
}

/// What a look into the store found at the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    /// The entry itself.
    Found,
    /// One that comes before it, and has been added meanwhile.
    Another,
    /// It is not there any more, by that change as far as the store knows.
    Gone(Change),
    /// This tab is not the sender, or the outbox is paused; that is told as well.
    Barred,
    /// The store failed.
    Failed,
}

/// What is known of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// Its turn has not come.
    Queued,
    /// An attempt is under way.
    Sending,
    /// Another attempt comes then.
    Waiting {
        /// When.
        until: Instant,
        /// Why not now.
        cause: Cause,
    },
    /// The browser is offline.
    Offline,
    /// A dead letter.
    Rejected,
}

/// What has to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Read what stands at the head of its queue, then tell [`Outbox::looked`].
    Look(Turn),
    /// Hand it to the client, then tell [`Outbox::phase`] and at last [`Outbox::ended`].
    Send(Turn),
    /// Its request is not wanted any more.
    Abort(Turn),
    /// A click: whatever the client waits for, it goes on now.
    Nudge(Turn),
    /// Write that, then tell [`Outbox::wrote`].
    Write(Turn, Change),
    /// Note that it is not to be sent before that moment; it lies so far away.
    Note(u32, Instant, Span),
    /// It looks like this now.
    Tell(u32, View),
    /// It is over, and its slot free.
    Over(u32, Change),
    /// Only the sender can send it now: ask it.
    Ask(u32),
}

/// A slot, and which of its doings: what comes late for another one changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Of the entry.
    pub slot: u32,
    /// Of all doings.
    pub token: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Queued,
    Looking(u32),
    Sending {
        token: u32,
        phase: Phase,
    },
    Waiting {
        until: Instant,
        cause: Cause,
    },
    Writing(u32, Change),
    /// The store failed to write that.
    Blocked {
        until: Instant,
        change: Change,
    },
    Rejected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    id: u64,
    queue: u32,
    bytes: u64,
    expires: Instant,
    /// Rounds without a final answer, since this page has it.
    rounds: u32,
    state: State,
}

/// What is stored of an entry, as it is read.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// Ids grow in the order in which entries were stored.
    pub id: u64,
    /// The name of its queue.
    pub queue: &'a str,
    /// Of its body.
    pub bytes: u64,
    /// Since it was stored.
    pub age: Span,
    /// What is left of a wait.
    pub wait: Span,
    /// It is a dead letter.
    pub rejected: bool,
}

/// All entries of an outbox, as one tab knows them.
#[derive(Clone, Debug)]
pub struct Outbox {
    limits: Limits,
    rng: Rng,
    now: Instant,
    /// A clock that nobody sets, though it may stop while the machine sleeps: a leap of the other makes nothing expire.
    steady: Instant,
    sender: bool,
    paused: bool,
    slots: Vec<Option<Entry>>,
    free: Vec<u32>,
    count: u32,
    /// So large that no number of records whose sizes make no sense is too much.
    bytes: u128,
    queues: Queues,
    /// Attempts that are new: what hangs for long is in nobody's way.
    fresh: VecDeque<(Instant, Turn)>,
    /// By slot: when a wait ends, by `now`.
    waits: Timers,
    /// By slot: when it is too old, by `steady`.
    ages: Timers,
    tokens: u32,
    commands: Vec<Command>,
}

impl Outbox {
    /// How many queues make their first steps at the same time.
    const AT_ONCE: usize = 16;
    /// After that an attempt does not count among them any more.
    const FRESH: Span = Span::from_secs(5);

    /// Without entries; not the sender.
    pub fn new(limits: Limits, seed: u64) -> Self {
        Self {
            limits,
            rng: Rng::new(seed),
            now: Instant::default(),
            steady: Instant::default(),
            sender: false,
            paused: false,
            slots: Vec::new(),
            free: Vec::new(),
            count: 0,
            bytes: 0,
            queues: Queues::new(),
            fresh: VecDeque::new(),
            waits: Timers::default(),
            ages: Timers::default(),
            tokens: 0,
            commands: Vec::new(),
        }
    }

    // -------------------------------------------------------- reads

    /// Whether an entry with such a body may be stored.
    pub const fn admit(&self, bytes: u64) -> Result<(), Refusal> {
        if bytes > self.limits.max_bytes {
            Err(Refusal::TooLarge)
        } else if self.count >= self.limits.max_entries
            || self.bytes + bytes as u128 > self.limits.max_bytes as u128
        {
            Err(Refusal::Full)
        } else {
            Ok(())
        }
    }

    /// How many entries it has.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether it has none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What is known of an entry.
    pub fn view(&self, slot: u32) -> Option<View> {
        self.entry(slot).map(Entry::view)
    }

    /// Whether nothing goes on without time, a click or the network: all that is left waits.
    pub fn is_quiet(&self) -> bool {
        let busy = self.slots.iter().flatten().any(|entry| entry.is_busy());
        let due = self.may_send() && self.queues.is_any_due();
        !busy && !due
    }

    /// How long it is until [`Outbox::wake`] has something to do.
    pub fn next_timeout(&self) -> Option<Span> {
        let wait = self.waits.first().map(|(at, _)| at - self.now);
        let age = self.ages.first().map(|(at, _)| at - self.steady);
        let full = self.may_send() && self.queues.is_any_due();
        let room = self.fresh.front().filter(|_| full).map(|(since, _)| *since + Self::FRESH - self.now);
        [wait, age, room].into_iter().flatten().min()
    }

    /// Hands over what has to be done.
    pub fn take_commands(&mut self, into: &mut Vec<Command>) {
        into.append(&mut self.commands);
    }

    // -------------------------------------------------------- inputs

    /// Time goes on, on both clocks: `steady` counts what this page has lived.
    pub fn advance(&mut self, now: Instant, steady: Instant) {
        self.now = self.now.max(now);
        self.steady = self.steady.max(steady);
    }

    /// An entry that is in the store. Its slot.
    pub fn add(&mut self, stored: Stored) -> u32 {
        let Stored { id, queue, bytes, age, wait, rejected } = stored;
        let queue = self.queues.enter(queue);
        let state = if rejected {
            State::Rejected
        } else if wait > Span::ZERO {
            State::Waiting { until: self.now + wait, cause: Cause::Backoff }
        } else {
            State::Queued
        };
        let expires = self.steady + (self.limits.max_age - age);
        let entry = Some(Entry { id, queue, bytes, expires, rounds: 0, state });
        self.count += 1;
        self.bytes += u128::from(bytes);
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = entry,
            None => self.slots.push(entry),
        }
        self.queues.put(queue, id, slot, rejected);
        self.time(slot);
        self.tell(slot);
        self.schedule();
        slot
    }

    /// What the store has of a wait, which another tab may have noted or ended while this one was not the sender.
    pub fn noted(&mut self, slot: u32, wait: Span) {
        if !self.sender && matches!(self.state(slot), Some(State::Queued | State::Waiting { .. })) {
            let until = self.now + wait;
            let waiting = State::Waiting { until, cause: Cause::Backoff };
            self.set(slot, if wait > Span::ZERO { waiting } else { State::Queued });
        }
    }

    /// Another tab took it out of the store: by that change.
    pub fn removed(&mut self, slot: u32, change: Change) {
        self.abort(slot);
        self.leave(slot, change);
        self.schedule();
    }

    /// Another tab made it a dead letter, or took it up again.
    pub fn marked(&mut self, slot: u32, rejected: bool) {
        match (self.state(slot), rejected) {
            (Some(State::Rejected), false) => self.set(slot, State::Queued),
            // What this tab writes comes after that.
            (None | Some(State::Rejected | State::Writing(..) | State::Blocked { .. }), true) => {}
            (Some(_), true) => {
                self.abort(slot);
                self.set(slot, State::Rejected);
            }
            (_, false) => {}
        }
        self.schedule();
    }

    /// Whether this tab is the sender. One that is no more has to stop at once; `abort` is whether what it has sent is
    /// called back.
    pub fn set_sender(&mut self, sender: bool, abort: bool) {
        self.sender = sender;
        if !sender {
            for slot in 0..self.slots.len() as u32 {
                let Some(state) = self.state(slot) else { continue };
                match state {
                    State::Sending { token, .. } if abort => {
                        self.commands.push(Command::Abort(Turn { slot, token }));
                        self.set(slot, State::Queued);
                    }
                    State::Sending { .. } | State::Looking(_) | State::Waiting { .. } => {
                        self.set(slot, State::Queued)
                    }
                    // What is being written is written by whoever began.
                    _ => self.time(slot),
                }
            }
        } else {
            for slot in 0..self.slots.len() as u32 {
                self.time(slot);
                // What the last one said of it is over.
                self.tell(slot);
            }
        }
        self.schedule();
    }

    /// Nothing new is sent while it is paused; what is on its way may arrive, and what the client waits with is taken back.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        if paused {
            for slot in 0..self.slots.len() as u32 {
                if let Some(State::Sending { token, phase }) = self.state(slot)
                    && phase != Phase::Loading
                {
                    self.call_back(slot, token, phase);
                }
            }
        }
        self.schedule();
    }

    /// What the store has at the head of the queue.
    pub fn looked(&mut self, turn: Turn, look: Look) {
        let Turn { slot, token } = turn;
        if self.state(slot) != Some(State::Looking(token)) {
            return;
        }
        match look {
            Look::Found if self.is_expired(slot) => self.write(slot, Change::Expire),
            Look::Found if self.may_send() => {
                self.set(slot, State::Sending { token, phase: Phase::Loading });
                self.commands.push(Command::Send(turn));
            }
            Look::Found | Look::Barred | Look::Another => self.set(slot, State::Queued),
            Look::Gone(change) => self.leave(slot, change),
            Look::Failed => self.wait(slot, Span::ZERO, Cause::Store),
        }
        self.schedule();
    }

    /// What the client does with it.
    pub fn phase(&mut self, turn: Turn, phase: Phase) {
        let Turn { slot, token } = turn;
        let Some(State::Sending { token: current, phase: before }) = self.state(slot) else { return };
        if current != token || phase == before {
            return;
        }
        if phase != Phase::Loading {
            if self.is_expired(slot) {
                self.commands.push(Command::Abort(turn));
                self.write(slot, Change::Expire);
                self.schedule();
                return;
            }
            if let Phase::Waiting { until, .. } = phase {
                self.note(slot, until);
            }
            if self.paused {
                self.call_back(slot, token, phase);
                return;
            }
        }
        self.set(slot, State::Sending { token, phase });
        self.schedule();
    }

    /// How it ended, and what is left of the time that the server asked for.
    pub fn ended(&mut self, turn: Turn, outcome: Outcome, hint: Span) {
        let Turn { slot, token } = turn;
        match self.state(slot) {
            Some(State::Sending { token: current, .. }) if current == token => {}
            _ => return,
        }
        match verdict::judge(outcome) {
            Verdict::Delivered => self.write(slot, Change::Deliver),
            Verdict::Rejected => self.write(slot, Change::Reject),
            Verdict::Again if self.is_expired(slot) => self.write(slot, Change::Expire),
            Verdict::Again => {
                let cause = if hint > Span::ZERO { Cause::Server } else { Cause::Backoff };
                self.wait(slot, hint, cause);
            }
        }
        self.schedule();
    }

    /// Whether what was to be written is.
    pub fn wrote(&mut self, turn: Turn, written: bool) {
        let Turn { slot, token } = turn;
        let change = match self.state(slot) {
            Some(State::Writing(current, change)) if current == token => change,
            _ => return,
        };
        if written {
            match change {
                Change::Reject => self.set(slot, State::Rejected),
                Change::Revive => self.set(slot, State::Queued),
                Change::Deliver | Change::Expire | Change::Cancel => self.leave(slot, change),
            }
        } else {
            let until = self.now + self.pause(slot, Span::ZERO);
            self.set(slot, State::Blocked { until, change });
        }
        self.schedule();
    }

    /// Takes it back. False where it is too late.
    pub fn cancel(&mut self, slot: u32) -> bool {
        match self.state(slot) {
            // The store has not heard of the answer, or of the click: it is still there.
            Some(State::Blocked { change: Change::Reject | Change::Revive, .. }) => {}
            None | Some(State::Writing(..) | State::Blocked { .. }) => return false,
            Some(State::Sending { token, .. }) => self.commands.push(Command::Abort(Turn { slot, token })),
            Some(_) => {}
        }
        self.write(slot, Change::Cancel);
        self.schedule();
        true
    }

    /// A person's click: no more waiting. False if that has no effect.
    pub fn retry_now(&mut self, slot: u32) -> bool {
        let Some(state) = self.state(slot) else { return false };
        match state {
            State::Rejected => self.write(slot, Change::Revive),
            State::Blocked { change, .. } => self.write(slot, change),
            _ if self.paused => return false,
            _ if !self.sender => {
                self.commands.push(Command::Ask(slot));
                return true;
            }
            State::Waiting { .. } => {
                self.set(slot, State::Queued);
            }
            State::Sending { token, phase: Phase::Waiting { .. } | Phase::Offline } => {
                self.commands.push(Command::Nudge(Turn { slot, token }));
            }
            _ => return false,
        }
        self.schedule();
        true
    }

    /// Every head goes on now.
    pub fn flush(&mut self) {
        for slot in 0..self.slots.len() as u32 {
            if matches!(
                self.state(slot),
                Some(State::Waiting { .. } | State::Sending { .. } | State::Blocked { .. })
            ) {
                self.retry_now(slot);
            }
        }
    }

    /// Lets everything happen that is due.
    pub fn wake(&mut self) {
        while let Some((_, slot)) = self.ages.first().filter(|(at, _)| *at <= self.steady) {
            // Of those that are being sent only what has no request out is among them.
            self.abort(slot);
            self.write(slot, Change::Expire);
        }
        while let Some((_, slot)) = self.waits.first().filter(|(at, _)| *at <= self.now) {
            match self.state(slot) {
                Some(State::Blocked { change, .. }) => self.write(slot, change),
                _ => self.set(slot, State::Queued),
            }
        }
        self.schedule();
    }

    // -------------------------------------------------------- within

    const fn may_send(&self) -> bool {
        self.sender && !self.paused
    }

    fn entry(&self, slot: u32) -> Option<&Entry> {
        self.slots.get(slot as usize)?.as_ref()
    }

    fn state(&self, slot: u32) -> Option<State> {
        self.entry(slot).map(|entry| entry.state)
    }

    fn is_expired(&self, slot: u32) -> bool {
        self.entry(slot).is_some_and(|entry| entry.expires <= self.steady)
    }

    const fn token(&mut self) -> u32 {
        self.tokens = self.tokens.wrapping_add(1);
        self.tokens
    }

    /// The one writer of states.
    fn set(&mut self, slot: u32, state: State) {
        let Some(entry) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else { return };
        let (before, was_active) = (entry.view(), entry.is_active());
        entry.state = state;
        let &mut Entry { id, queue, .. } = entry;
        let (view, is_active) = (entry.view(), entry.is_active());
        if view != before {
            self.commands.push(Command::Tell(slot, view));
        }
        if (view == View::Rejected) != (before == View::Rejected) {
            self.queues.mark(queue, id, view == View::Rejected);
        }
        if is_active != was_active {
            self.queues.activate(queue, is_active);
        }
        self.queues.due(queue);
        self.time(slot);
    }

    /// How it looks, unless that is how anything begins.
    fn tell(&mut self, slot: u32) {
        if let Some(view) = self.view(slot).filter(|view| !matches!(view, View::Queued | View::Rejected)) {
            self.commands.push(Command::Tell(slot, view));
        }
    }

    /// When something happens to it by itself; only the sender sees to that, and whoever writes to what it wrote.
    fn time(&mut self, slot: u32) {
        let Some(entry) = self.entry(slot) else { return };
        let wait = match entry.state {
            State::Blocked { until, .. } => Some(until),
            State::Waiting { until, .. } if self.sender => Some(until),
            _ => None,
        };
        let ages = self.sender
            && !matches!(
                entry.state,
                State::Blocked { .. }
                    | State::Looking(_)
                    | State::Writing(..)
                    | State::Sending { phase: Phase::Loading, .. }
            );
        let age = ages.then_some(entry.expires);
        let ever = |at: &Instant| *at < Instant::NEVER;
        self.waits.set(slot, wait.filter(ever));
        self.ages.set(slot, age.filter(ever));
    }

    /// Looks for the heads whose turn it is.
    fn schedule(&mut self) {
        if !self.may_send() {
            return;
        }
        let Self { fresh, slots, now, .. } = self;
        fresh.retain(|&(since, Turn { slot, token })| {
            let state = slots.get(slot as usize).copied().flatten().map(|entry| entry.state);
            let same = match state {
                Some(State::Looking(current) | State::Sending { token: current, phase: Phase::Loading }) => {
                    current == token
                }
                _ => false,
            };
            same && since + Self::FRESH > *now
        });
        while self.fresh.len() < Self::AT_ONCE {
            let Some(slot) = self.queues.next(self.limits.stop_on_rejected) else { break };
            if self.state(slot) != Some(State::Queued) {
                continue;
            }
            if self.is_expired(slot) {
                self.write(slot, Change::Expire);
                continue;
            }
            let turn = Turn { slot, token: self.token() };
            self.fresh.push_back((self.now, turn));
            self.set(slot, State::Looking(turn.token));
            self.commands.push(Command::Look(turn));
        }
    }

    fn write(&mut self, slot: u32, change: Change) {
        let turn = Turn { slot, token: self.token() };
        self.set(slot, State::Writing(turn.token, change));
        self.commands.push(Command::Write(turn, change));
    }

    /// What the client has of it is not wanted any more.
    fn abort(&mut self, slot: u32) {
        if let Some(State::Sending { token, .. }) = self.state(slot) {
            self.commands.push(Command::Abort(Turn { slot, token }));
        }
    }

    /// A request that only waits is taken back; what it waited for still counts.
    fn call_back(&mut self, slot: u32, token: u32, phase: Phase) {
        self.commands.push(Command::Abort(Turn { slot, token }));
        let state = match phase {
            Phase::Waiting { until, cause } if until < Instant::NEVER => State::Waiting { until, cause },
            // Nobody knows when: nothing would wake it.
            Phase::Waiting { .. } | Phase::Loading | Phase::Offline => State::Queued,
        };
        self.set(slot, state);
    }

    /// Another round, after a wait that the server may have asked for.
    fn wait(&mut self, slot: u32, hint: Span, cause: Cause) {
        let until = self.now + self.pause(slot, hint);
        self.set(slot, State::Waiting { until, cause });
        self.note(slot, until);
    }

    /// Rounds are paced apart from the retries of the client, of which each may have many.
    fn pause(&mut self, slot: u32, hint: Span) -> Span {
        let pace = Retry {
            delay: Span::from_secs(1),
            backoff_limit: Span::from_secs(60),
            jitter: Jitter::Equal,
            ..Retry::default()
        };
        let Some(entry) = self.slots.get_mut(slot as usize).and_then(Option::as_mut) else { return hint };
        let wait = backoff::wait(&pace, entry.rounds, None, &mut self.rng);
        entry.rounds = entry.rounds.saturating_add(1);
        // Never earlier than told, and not all at once.
        wait.max(hint + backoff::spread(hint.tenth(), Jitter::Full, &mut self.rng))
    }

    /// A wait that a reload is not to end.
    fn note(&mut self, slot: u32, until: Instant) {
        if until < Instant::NEVER && until > self.now {
            self.commands.push(Command::Note(slot, until, until - self.now));
        }
    }

    /// It is out of the store.
    fn leave(&mut self, slot: u32, change: Change) {
        let Some(entry) = self.slots.get_mut(slot as usize).and_then(Option::take) else { return };
        self.count -= 1;
        self.bytes -= u128::from(entry.bytes);
        if entry.is_active() {
            self.queues.activate(entry.queue, false);
        }
        self.queues.leave(entry.queue, entry.id);
        self.waits.set(slot, None);
        self.ages.set(slot, None);
        self.free.push(slot);
        self.commands.push(Command::Over(slot, change));
    }
}

impl Entry {
    const fn view(&self) -> View {
        match self.state {
            State::Queued | State::Looking(_) => View::Queued,
            State::Sending { phase: Phase::Loading, .. } | State::Writing(..) => View::Sending,
            State::Sending { phase: Phase::Waiting { until, cause }, .. }
            | State::Waiting { until, cause } => View::Waiting { until, cause },
            State::Sending { phase: Phase::Offline, .. } => View::Offline,
            State::Blocked { until, .. } => View::Waiting { until, cause: Cause::Store },
            State::Rejected => View::Rejected,
        }
    }

    /// While one of a queue is, no other is begun.
    const fn is_active(&self) -> bool {
        self.is_busy() || matches!(self.state, State::Sending { .. } | State::Blocked { .. })
    }

    const fn is_busy(&self) -> bool {
        matches!(
            self.state,
            State::Looking(_) | State::Sending { phase: Phase::Loading, .. } | State::Writing(..)
        )
    }
}
