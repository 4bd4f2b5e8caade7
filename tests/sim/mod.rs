//! A scripted server and a page in virtual time, around the real engine: it carries out commands as `src/web` does
//! and jumps from deadline to deadline.
#![allow(dead_code)]

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use steadfetch::core::breaker;
use steadfetch::core::call::{AbortReason, Action, Carry, End, Hooks, Input, Setup, View};
use steadfetch::core::classify::{Outcome, Traits};
use steadfetch::core::connectivity::Page;
use steadfetch::core::engine::{Counts, Engine};
use steadfetch::core::hints::{Hint, HintSource};
use steadfetch::core::keepalive::Quota;
use steadfetch::core::policy::{self, Jitter, Policy, Retry};
use steadfetch::core::registry::{CircuitId, Entry};
use steadfetch::core::shared::{Lock, News};
use steadfetch::core::time::{Instant, Span};

/// What the server does with one attempt.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Answers with this status after so many milliseconds.
    Status(u16, f64),
    /// The same with a `Retry-After` of so many milliseconds.
    RetryAfter(u16, f64),
    /// The connection breaks after so many milliseconds.
    Drop(f64),
    /// Nothing comes, ever.
    Stall,
}

pub fn ok() -> Step {
    Step::Status(200, 0.0)
}

pub fn status(status: u16) -> Step {
    Step::Status(status, 0.0)
}

/// What became of a call.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// When attempts were sent, in milliseconds.
    pub sent: Vec<f64>,
    /// Which of those that wanted `keepalive` had it.
    pub kept_alive: Vec<bool>,
    /// Their names.
    pub seqs: Vec<u32>,
    /// When the server told to stay away, until when, and with which status.
    pub told: Vec<(f64, f64, u16)>,
    /// When attempts were aborted, and why.
    pub aborted: Vec<(f64, AbortReason)>,
    /// Every state, with its time and attempt.
    pub states: Vec<(f64, u32, View)>,
    /// The end.
    pub end: Option<(f64, End, Carry)>,
    /// Responses given up.
    pub discarded: u32,
    /// Hooks that were asked.
    pub asked: Vec<Action>,
    /// Failed attempts, and how long they took.
    pub failures: Vec<(Outcome, Span)>,
    /// Attempts that gave the lock of the key back.
    pub unlocked: Vec<u32>,
}

pub struct Plan {
    pub policy: Policy,
    pub script: Vec<Step>,
    pub traits: Traits,
    pub hooks: Hooks,
    pub circuit: Option<&'static str>,
    /// Wants `keepalive`, with a body of so many bytes.
    pub keepalive: Option<u32>,
    pub run: u32,
    /// What `shouldRetry` says.
    pub should_retry: Option<bool>,
    /// What `delay` says, in milliseconds.
    pub delay: Option<f64>,
    /// Hooks throw instead.
    pub throws: bool,
    /// What `isFailure` says.
    pub failure: Option<bool>,
    /// Hooks and bodies take their time: they answer by [`Sim::answer`].
    pub late: bool,
}

/// A GET that is retried without jitter, without limit of time and without a circuit.
pub fn plan(script: &[Step]) -> Plan {
    let retry = Retry { jitter: Jitter::None, ..Retry::default() };
    Plan {
        policy: Policy { retry, timeout: None, breaker: None, budget: None, ..Policy::default() },
        script: script.to_vec(),
        traits: Traits { listed: true, keyed: false, replayable: true },
        hooks: Hooks::default(),
        circuit: None,
        keepalive: None,
        run: 1,
        should_retry: None,
        delay: None,
        throws: false,
        failure: None,
        late: false,
    }
}

impl Plan {
    /// Behind the circuit of that key.
    pub fn behind(mut self, key: &'static str, breaker: policy::Breaker) -> Self {
        self.circuit = Some(key);
        self.policy.breaker = Some(breaker);
        self
    }

    pub fn with(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }
}

struct Running {
    script: VecDeque<Step>,
    last: Option<Step>,
    keepalive: Option<u32>,
    should_retry: Option<bool>,
    delay: Option<f64>,
    throws: bool,
    failure: Option<bool>,
    late: bool,
    /// It has a circuit or a budget.
    keyed: bool,
    /// A hook or a body that has yet to answer, for this attempt.
    open_question: Option<(u32, Input)>,
    trace: usize,
    /// A response nobody has taken or given up.
    open_response: bool,
}

pub struct Sim {
    pub engine: Engine,
    pub now: f64,
    pub page: Page,
    pub traces: Vec<Trace>,
    /// Changes of circuits, with their times.
    pub circuits: Vec<(f64, breaker::Status)>,
    running: BTreeMap<u32, Running>,
    /// What the server will do: time, order, slot, attempt, outcome.
    answers: BTreeMap<(u64, u32), (u32, u32, Outcome)>,
    order: u32,
    pub quota: Quota,
    /// What the other tabs are told.
    pub news: Vec<News>,
    /// Who has the lock of the one key that is shared; another tab is `Some(0)`.
    pub lock: Option<u32>,
    /// The test itself answers who asks for the lock.
    pub slow_lock: bool,
    pub asked_lock: Option<u32>,
    /// What the attempt in flight of a call has of it.
    lent: BTreeMap<u32, u32>,
    draining: bool,
    /// What there was to see, and the version of that.
    seen: (Seen, u32),
}

type Seen = (Counts, Vec<(u64, breaker::Status)>, Page);

impl Sim {
    pub fn new(seed: u64) -> Self {
        Self {
            engine: Engine::new(seed, Page::default()),
            now: 0.0,
            page: Page::default(),
            traces: Vec::new(),
            circuits: Vec::new(),
            running: BTreeMap::new(),
            answers: BTreeMap::new(),
            order: 0,
            quota: Quota::new(),
            news: Vec::new(),
            lock: None,
            slow_lock: false,
            asked_lock: None,
            lent: BTreeMap::new(),
            draining: false,
            seen: ((Counts::default(), Vec::new(), Page::default()), 0),
        }
    }

    fn at(&self) -> Instant {
        Instant::from_ms(self.now)
    }

    /// Begins a call; gives its number and its place.
    pub fn start(&mut self, plan: Plan) -> (usize, u32) {
        self.begin(plan, Input::Start)
    }

    /// The same where the first that happens to it may be something else.
    pub fn begin(&mut self, plan: Plan, input: Input) -> (usize, u32) {
        let circuit = plan.circuit.map(|key| self.engine.resolve(key, plan.policy.breaker, self.at()));
        let setup = Setup {
            policy: Arc::new(plan.policy),
            circuit,
            traits: plan.traits,
            hooks: plan.hooks,
            run: plan.run,
        };
        let slot = self.engine.insert(setup);
        self.traces.push(Trace::default());
        let trace = self.traces.len() - 1;
        let running = Running {
            script: plan.script.into(),
            last: None,
            keepalive: plan.keepalive,
            should_retry: plan.should_retry,
            delay: plan.delay,
            throws: plan.throws,
            failure: plan.failure,
            late: plan.late,
            keyed: plan.circuit.is_some(),
            open_question: None,
            trace,
            open_response: false,
        };
        assert!(self.running.insert(slot, running).is_none(), "a place in use was given away");
        self.input(slot, input);
        (trace, slot)
    }

    /// Hands the engine one input and carries out what follows.
    pub fn input(&mut self, slot: u32, input: Input) -> bool {
        let effect = self.engine.handle(slot, input, self.at());
        self.drain();
        effect
    }

    /// The hook or the body that is waited for answers; false if there is none, or its attempt is over.
    pub fn answer(&mut self, slot: u32) -> bool {
        let question = self.running.get_mut(&slot).and_then(|running| running.open_question.take());
        question.is_some_and(|(seq, answer)| self.engine.is_current(slot, seq) && self.input(slot, answer))
    }

    /// The attempt ends in this way, if it is the one under way. Late and repeated outcomes change nothing.
    pub fn outcome(&mut self, slot: u32, seq: u32, outcome: Outcome) -> bool {
        let current = self.engine.is_current(slot, seq);
        if current {
            self.release(slot);
        }
        let Some(running) = self.running.get_mut(&slot) else {
            return self.input(slot, Input::Outcome { seq, outcome, failure: None });
        };
        if current {
            running.open_response = matches!(outcome, Outcome::Answer { .. });
        }
        let (failure, trace) = (running.failure, running.trace);
        let effect = self.input(slot, Input::Outcome { seq, outcome, failure });
        assert!(current || !effect, "the outcome of an attempt that is over had an effect");
        if let Outcome::Answer { status: status @ 400.., hint: Some(hint) } = outcome
            && effect
        {
            let now = self.now;
            self.traces[trace].told.push((now, now + hint.wait.as_ms(), status));
        }
        effect
    }

    /// What has to be true once all calls are over: no counter, no timer, no user of a circuit, no permit, and
    /// nothing of the quota.
    pub fn assert_nothing_left(&self) {
        assert!(self.traces.iter().all(|trace| trace.end.is_some()), "a call has no end");
        assert_eq!(self.engine.counts(), Counts::default());
        assert_eq!(self.engine.next_timeout(), None);
        assert_eq!(self.quota, Quota::new());
        for (_, entry) in self.engine.circuits() {
            assert_eq!(entry.users, 0);
            assert_eq!(entry.waiters.first(), None);
            if entry.breaker.status() == breaker::Status::HalfOpen {
                assert_eq!(entry.breaker.refusal(false), None, "a permit is lost");
            }
        }
    }

    /// Forgets what became of calls; none may be under way.
    pub fn forget(&mut self) {
        assert!(self.running.is_empty());
        self.traces = Vec::new();
        self.circuits = Vec::new();
    }

    /// Something that a person does to the circuits.
    pub fn by_hand<T>(&mut self, act: impl FnOnce(&mut Engine, Instant) -> T) -> T {
        let now = self.at();
        let result = act(&mut self.engine, now);
        self.drain();
        result
    }

    pub fn set_page(&mut self, page: Page) {
        self.page = page;
        self.engine.set_page(page, self.at());
        self.drain();
    }

    /// Lets everything happen up to `until` milliseconds.
    pub fn run_until(&mut self, until: f64) {
        self.settle(until);
        self.now = self.now.max(until);
    }

    fn settle(&mut self, until: f64) {
        for turn in 0.. {
            assert!(turn < 100_000, "it never comes to rest");
            let answer = self.answers.keys().next().map(|(at, _)| *at as f64 / 1_000.0);
            let timer = self.engine.next_timeout().map(|at| (at - Instant::default()).as_ms());
            let next = answer.unwrap_or(f64::INFINITY).min(timer.unwrap_or(f64::INFINITY));
            if next > until || next == f64::INFINITY {
                return;
            }
            self.now = self.now.max(next);
            if answer.is_some_and(|at| at <= self.now) {
                let (_, (slot, seq, outcome)) = self.answers.pop_first().unwrap();
                if self.engine.is_current(slot, seq) {
                    self.outcome(slot, seq, outcome);
                }
            } else {
                for turn in 0.. {
                    assert!(turn < 100_000, "it is never done with a moment");
                    let again = self.engine.wake(self.at());
                    self.drain();
                    if !again {
                        break;
                    }
                }
            }
        }
    }

    /// Lets everything happen until nothing is left to happen.
    pub fn run(&mut self) {
        self.settle(f64::INFINITY);
    }

    pub fn circuit(&self, key: &str) -> Option<breaker::View> {
        let id: CircuitId = self.engine.find_circuit(key)?;
        Some(self.engine.circuit(id)?.breaker.view(self.at()))
    }

    fn drain(&mut self) {
        // As in `src/web/driver.rs`: what follows from a command joins the end of the queue.
        if std::mem::replace(&mut self.draining, true) {
            return;
        }
        let mut batch = Vec::new();
        for turn in 0.. {
            assert!(turn < 100_000, "commands follow from commands for ever");
            self.engine.take_commands(&mut batch);
            if batch.is_empty() {
                break;
            }
            for command in std::mem::take(&mut batch) {
                self.carry_out(command.slot, command.action);
            }
        }
        self.draining = false;
        self.check();
    }

    /// What the engine says of itself is what the calls were told. Crowds are spared: it looks at every call. Who asks for
    /// a lock counts as loading and is told so once it has it.
    fn check(&mut self) {
        if self.running.len() > 50 || self.slow_lock {
            return;
        }
        let mut counts = Counts::default();
        for (&slot, running) in &self.running {
            let view = self.traces[running.trace].states.last().map(|(_, _, view)| view);
            match view {
                Some(View::Loading { .. }) => counts.loading += 1,
                Some(View::Waiting { .. }) => counts.waiting += 1,
                Some(View::Offline { .. }) => counts.offline += 1,
                Some(View::Queued { .. }) => counts.queued += 1,
                Some(View::Held { .. }) | None => {}
            }
            assert_eq!(self.engine.is_queued(slot), matches!(view, Some(View::Queued { .. })));
            assert_eq!(self.engine.circuit_of(slot).is_some(), running.keyed);
        }
        let Counts { loading, waiting, offline, queued } = counts;
        assert_eq!(self.engine.counts(), counts);
        assert_eq!(self.engine.is_busy(), counts != Counts::default());
        assert!(
            self.engine.needs_page() || [waiting, offline, queued] == [0; 3],
            "{loading} load, others wait"
        );
        let status = |(_, entry): (_, &Entry)| (entry.breaker.epoch(), entry.breaker.status());
        let seen = (counts, self.engine.circuits().map(status).collect(), self.page);
        let version = self.engine.version();
        if seen != self.seen.0 {
            assert_ne!(version, self.seen.1, "nobody who looks would be told");
        }
        self.seen = (seen, version);
    }

    fn release(&mut self, slot: u32) {
        if let Some(bytes) = self.lent.remove(&slot) {
            self.quota.release(bytes);
        }
    }

    fn answer_unless_late(&mut self, slot: u32) {
        if self.running.get(&slot).is_some_and(|running| !running.late) {
            self.answer(slot);
        }
    }

    fn carry_out(&mut self, slot: u32, action: Action) {
        let now = self.now;
        match action {
            Action::Circuit(view) => return self.circuits.push((now, view.status)),
            Action::Share(news) => return self.news.push(news),
            _ => {}
        }
        let running = self.running.get_mut(&slot).expect("a command for a call that is over");
        let trace = &mut self.traces[running.trace];
        assert!(trace.end.is_none(), "a command after the end");
        match action {
            Action::Send { seq } => {
                trace.sent.push(now);
                trace.seqs.push(seq);
                if let Some(bytes) = running.keepalive {
                    let kept = self.engine.keep_alive(slot, seq, bytes, &mut self.quota);
                    trace.kept_alive.push(kept);
                    if kept {
                        self.lent.insert(slot, bytes);
                    }
                }
                let step = running
                    .script
                    .pop_front()
                    .or(running.last)
                    .expect("an attempt that the script does not know");
                running.last = Some(step);
                let (after, outcome) = match step {
                    Step::Status(status, after) => (after, Outcome::Answer { status, hint: None }),
                    Step::RetryAfter(status, ms) => {
                        let hint = Hint { wait: Span::from_ms(ms), source: HintSource::RetryAfter };
                        (0.0, Outcome::Answer { status, hint: Some(hint) })
                    }
                    Step::Drop(after) => (after, Outcome::Network),
                    Step::Stall => return,
                };
                self.order += 1;
                let at = ((now + after) * 1_000.0).round() as u64;
                self.answers.insert((at, self.order), (slot, seq, outcome));
            }
            Action::Abort { seq, why } => {
                trace.aborted.push((now, why));
                self.release(slot);
                if why == AbortReason::Timeout {
                    self.outcome(slot, seq, Outcome::Timeout);
                }
            }
            Action::ReadBody { seq } => {
                running.open_question = Some((seq, Input::BodyRead { seq }));
                self.answer_unless_late(slot);
            }
            Action::Discard => trace.discarded += u32::from(std::mem::take(&mut running.open_response)),
            Action::AskShouldRetry { seq, .. }
            | Action::AskDelay { seq, .. }
            | Action::AskBeforeRetry { seq, .. } => {
                trace.asked.push(action);
                let answer = match action {
                    _ if running.throws => Input::Threw,
                    Action::AskShouldRetry { .. } => Input::ShouldRetry(running.should_retry),
                    Action::AskDelay { .. } => Input::Delay(running.delay.map(Span::from_ms)),
                    _ => Input::Prepared,
                };
                running.open_question = Some((seq, answer));
                self.answer_unless_late(slot);
            }
            Action::Lock { seq } if self.slow_lock => self.asked_lock = Some(seq),
            Action::Lock { seq } => {
                let lock = if self.lock.is_none() { Lock::Granted } else { Lock::Taken };
                self.lock = self.lock.or(Some(seq));
                self.input(slot, Input::Locked { seq, lock });
            }
            Action::Unlock { seq } => {
                trace.unlocked.push(seq);
                self.lock = self.lock.filter(|&held| held != seq);
            }
            Action::Failure { outcome, duration } => trace.failures.push((outcome, duration)),
            Action::Circuit(_) | Action::Share(_) => {}
            Action::State { attempt, view } => trace.states.push((now, attempt, view)),
            Action::Settle { end, carry, .. } => {
                trace.end = Some((now, end, carry));
                self.running.remove(&slot);
                self.engine.remove(slot);
            }
        }
    }
}
