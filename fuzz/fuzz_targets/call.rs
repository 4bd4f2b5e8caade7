//! Calls, circuits, clocks, clicks and a page in any order, around the engine, over the simulator of the tests.
//!
//! The input is a seed and a list of steps, each a byte that names it and its arguments; what is missing reads as
//! zero.
#![no_main]

#[path = "../../tests/sim/mod.rs"]
mod sim;

use arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use sim::{Plan, Sim, Step, plan};
use steadfetch::core::call::{End, ExhaustedReason, Hooks, Input, View};
use steadfetch::core::classify::{FailReason, Outcome};
use steadfetch::core::connectivity::Page;
use steadfetch::core::engine::Counts;
use steadfetch::core::hints::{Hint, HintSource};
use steadfetch::core::policy::{
    self, Covers, Jitter, OnCircuitOpen, OnExhausted, OnOffline, Retry, Statuses,
};
use steadfetch::core::registry::CircuitId;
use steadfetch::core::time::{Clock, Instant, Span};

/// A story takes no longer than a few hundred steps.
const LONGEST: usize = 4_096;
/// Rounding to microseconds and back, in milliseconds.
const ROUNDING: f64 = 0.01;
/// What one clock may gain on the other before it counts.
const NOISE: f64 = 5.0 + ROUNDING;

fuzz_target!(|data: &[u8]| {
    let data = &data[..data.len().min(LONGEST)];
    if let Some((seed, rest)) = data.split_first_chunk() {
        let mut story = Story::new(u64::from_le_bytes(*seed));
        let mut source = Source(Unstructured::new(rest));
        while !source.0.is_empty() {
            story.step(&mut source);
            story.check();
        }
        story.end();
    }
});

// ---------------------------------------------------------------- what the bytes say

struct Source<'a>(Unstructured<'a>);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::from(self.byte()) % of.len()]
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() & 1 == 1).then(|| make(self))
    }

    /// Milliseconds with a fraction, up to `limit`.
    fn ms(&mut self, limit: f64) -> f64 {
        let share = self.0.arbitrary::<u16>().unwrap_or(0);
        f64::from(share) / f64::from(u16::MAX) * limit
    }

    fn span(&mut self, limit: f64) -> Span {
        Span::from_ms(self.ms(limit))
    }

    fn step(&mut self) -> Step {
        const STATUSES: [u16; 16] =
            [200, 204, 0, 304, 400, 404, 408, 409, 413, 425, 429, 500, 501, 503, 599, 999];
        match self.byte() % 8 {
            0..=2 => Step::Status(self.one(&STATUSES), self.ms(2_000.0)),
            3 => Step::Status(self.one(&STATUSES), 0.0),
            4 => Step::RetryAfter(self.one(&STATUSES), self.ms(90_000.0)),
            5 | 6 => Step::Drop(self.ms(2_000.0)),
            _ => Step::Stall,
        }
    }

    fn outcome(&mut self) -> Outcome {
        match self.byte() % 4 {
            0 => Outcome::Network,
            1 => Outcome::Timeout,
            _ => {
                let source = self.one(&[HintSource::RetryAfter, HintSource::RateLimit]);
                let hint = self.maybe(|s| Hint { wait: s.span(90_000.0) + Span::from_ms(0.001), source });
                Outcome::Answer { status: self.one(&[200, 204, 404, 409, 413, 429, 500, 503]), hint }
            }
        }
    }

    fn plan(&mut self) -> Plan {
        let script: Vec<Step> = (0..=self.byte() % 5).map(|_| self.step()).collect();
        let [a, b, c] = [self.byte(), self.byte(), self.byte()];
        let bit = |byte: u8, bit: u8| byte >> bit & 1 == 1;
        let mut plan = plan(&script);
        plan.traits.keyed = bit(a, 0);
        plan.traits.listed = !bit(a, 1);
        plan.traits.replayable = !bit(a, 2);
        plan.hooks = Hooks { should_retry: bit(a, 3), delay: bit(a, 4), before_retry: bit(a, 5) };
        plan.throws = bit(a, 6) && bit(a, 7);
        plan.late = bit(b, 0);
        plan.run = 1 + u32::from(bit(b, 1) && bit(b, 2));
        plan.should_retry = self.one(&[None, Some(true), Some(false)]);
        plan.keepalive = (bit(c, 4) && bit(c, 5)).then(|| u32::from(b) * 300);
        plan.failure = self.one(&[None, None, Some(true), Some(false)]);
        plan.delay = self.maybe(|s| s.ms(2_000.0));
        let policy = &mut plan.policy;
        policy.on_circuit_open = if bit(b, 3) { OnCircuitOpen::Wait } else { OnCircuitOpen::Reject };
        policy.on_exhausted = if bit(b, 4) { OnExhausted::Hold } else { OnExhausted::Settle };
        policy.covers = if bit(b, 5) { Covers::Body } else { Covers::Headers };
        policy.throw_http_errors = bit(b, 6);
        policy.on_offline = self.one(&[OnOffline::Wait, OnOffline::Reject, OnOffline::Ignore]);
        policy.tick = self.one(&[None, Some(Span::from_ms(1_000.0)), Some(Span::from_ms(5_000.0))]);
        policy.total_timeout = self.maybe(|s| s.span(60_000.0));
        // A stall needs someone to end it.
        policy.timeout = Some(Span::from_ms(1.0 + self.ms(3_000.0)));
        policy.retry = Retry {
            limit: u32::from(c % 6),
            jitter: self.one(&[Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::None]),
            on_timeout: !bit(c, 7),
            statuses: if bit(c, 6) { Statuses::NONE } else { Statuses::default() },
            ..Retry::default()
        };
        if bit(b, 7) {
            policy.retry.delay = self.span(20_000.0);
            policy.retry.factor = self.one(&[2.0, 0.5, 1.0, 10.0, f64::MIN_POSITIVE, f64::MAX]);
            policy.retry.backoff_limit = self.span(60_000.0);
            policy.retry.min_delay = self.span(5_000.0);
            policy.retry.max_retry_after = self.one(&[Span::MAX, Span::ZERO, Span::from_ms(30_000.0)]);
        }
        match self.one(&[None, Some("a"), Some("a"), Some("b")]) {
            Some(key) => {
                let breaker = self.breaker();
                plan.behind(key, breaker)
            }
            None => plan,
        }
    }

    fn breaker(&mut self) -> policy::Breaker {
        let common = policy::Breaker {
            consecutive_failures: u32::from(self.byte() % 4),
            half_open_after: Span::from_ms(500.0),
            max_open: Span::from_ms(2_000.0),
            half_open_probes: 1 + u32::from(self.byte() % 3),
            half_open_successes: 1 + u32::from(self.byte() % 3),
            probe_lease: self.maybe(|s| s.span(3_000.0)),
            ..policy::Breaker::default()
        };
        let own = |s: &mut Self| policy::Breaker {
            failure_rate: s.one(&[0.5, 1.0, f64::MIN_POSITIVE]),
            minimum_calls: 1 + u32::from(s.byte() % 4),
            window: s.span(10_000.0),
            slow_call_duration: s.maybe(|s| s.span(1_000.0)),
            slow_call_rate: s.one(&[1.0, 0.5]),
            half_open_after: s.span(4_000.0),
            max_open: s.one(&[Span::ZERO, Span::from_ms(10_000.0), Span::from_ms(60_000.0)]),
            ..common
        };
        self.maybe(own).unwrap_or(common)
    }
}

// ---------------------------------------------------------------- what happens

/// A call, and what was done to it from outside.
struct Told {
    trace: usize,
    slot: u32,
    limit: u32,
    total: bool,
    throws: bool,
    circuit: bool,
    rejects_offline: bool,
    holds: bool,
    statuses: Statuses,
    /// Clicks may end any wait.
    clicked: bool,
    cancelled: bool,
}

impl Told {
    /// Whether what a server says with this status is for this call.
    fn heeds(&self, status: u16) -> bool {
        status == 413 || self.statuses.contains(status)
    }
}

struct Story {
    sim: Sim,
    calls: Vec<Told>,
    isolated: Vec<CircuitId>,
    clock: Clock,
    /// What the two clocks of the machine say.
    mono: f64,
    wall: f64,
    last: Instant,
}

impl Story {
    fn new(seed: u64) -> Self {
        let (mono, wall) = (0.0, 1_893_456_000_000.0);
        Self {
            sim: Sim::new(seed),
            calls: Vec::new(),
            isolated: Vec::new(),
            clock: Clock::new(mono, wall),
            mono,
            wall,
            last: Instant::default(),
        }
    }

    fn is_live(&self, call: &Told) -> bool {
        self.sim.traces[call.trace].end.is_none()
    }

    /// One of the calls, and whether it is not over.
    fn pick(&self, source: &mut Source<'_>) -> Option<(usize, u32, bool)> {
        // The youngest first: they are more often alive.
        let back = usize::from(source.byte()) % self.calls.len().max(1);
        let index = self.calls.len().checked_sub(1 + back)?;
        let call = &self.calls[index];
        Some((index, call.slot, self.is_live(call)))
    }

    fn step(&mut self, source: &mut Source<'_>) {
        match source.byte() % 24 {
            0..=3 => self.start(source),
            4..=6 => {
                let limit = source.one(&[0.0, 20.0, 300.0, 5_000.0, 60_000.0]);
                let ms = source.ms(limit);
                self.clocks(ms, ms);
                self.pass();
            }
            // The machine sleeps: the one clock stands still, and nothing happens meanwhile.
            7 => {
                let ms = source.ms(120_000.0);
                self.clocks(0.0, ms);
                self.pass();
            }
            // Someone sets the wall clock.
            8 => {
                let by = source.one(&[-1.0, -3_600_000.0, -4e12, 4.0, 3_600_000.0]);
                self.clocks(0.0, by);
            }
            9 => {
                if let Some((index, slot, true)) = self.pick(source) {
                    self.calls[index].cancelled = true;
                    assert!(self.sim.input(slot, Input::Cancel));
                    assert!(!self.is_live(&self.calls[index]), "a cancelled call is over at once");
                }
            }
            10 | 11 => {
                if let Some((index, slot, true)) = self.pick(source) {
                    let input = source.one(&[Input::RetryNow, Input::Retry]);
                    let states = self.sim.traces[self.calls[index].trace].states.len();
                    self.calls[index].clicked = true;
                    let effect = self.sim.input(slot, input);
                    let trace = &self.sim.traces[self.calls[index].trace];
                    let told = trace.states.len() > states || trace.end.is_some();
                    assert!(!effect || told, "a click had an effect that nobody was told of");
                }
            }
            12 | 13 => {
                if let Some((_, slot, true)) = self.pick(source) {
                    self.sim.answer(slot);
                }
            }
            // A body that breaks off, or a server that answers at once.
            14 => {
                if let Some((index, slot, true)) = self.pick(source) {
                    let outcome = source.outcome();
                    if let Some(&seq) = self.sim.traces[self.calls[index].trace].seqs.last() {
                        self.sim.outcome(slot, seq, outcome);
                    }
                }
            }
            // Something late, or said twice, of any attempt of any call.
            15 => {
                if let Some((index, slot, _)) = self.pick(source) {
                    let trace = self.calls[index].trace;
                    let which = usize::from(source.byte());
                    let seqs = &self.sim.traces[trace].seqs;
                    if let Some(&seq) = seqs.get(which % seqs.len().max(1)) {
                        self.late(slot, seq, source);
                    }
                }
            }
            // Any input to a call that is over.
            16 => {
                if let Some((_, slot, false)) = self.pick(source)
                    && self.calls.iter().all(|call| call.slot != slot || !self.is_live(call))
                {
                    const INPUTS: [Input; 12] = [
                        Input::Start,
                        Input::Threw,
                        Input::Timer,
                        Input::Offline,
                        Input::Online,
                        Input::Turn,
                        Input::Refused,
                        Input::RetryNow,
                        Input::Retry,
                        Input::Cancel,
                        Input::Prepared,
                        Input::Watch(true),
                    ];
                    assert!(!self.sim.input(slot, source.one(&INPUTS)), "a call that is over did something");
                }
            }
            17 => {
                if let Some((_, slot, true)) = self.pick(source) {
                    self.sim.input(slot, Input::Watch(source.byte() & 1 == 1));
                }
            }
            18 | 19 => {
                let byte = source.byte();
                self.sim.set_page(Page { online: byte & 1 == 1, visible: byte & 2 == 2 });
            }
            20 => {
                let observed = source.byte() & 1 == 1;
                self.sim.by_hand(|engine, _| engine.set_observed(observed));
            }
            21 => {
                let key = source.one(&["a", "b"]);
                if let Some(id) = self.sim.engine.find_circuit(key) {
                    self.sim.by_hand(|engine, now| engine.reset(id, now));
                }
            }
            22 => {
                let key = source.one(&["a", "b"]);
                if let Some(id) = self.sim.engine.find_circuit(key) {
                    self.isolated.push(id);
                    self.sim.by_hand(|engine, now| engine.isolate(id, now));
                }
            }
            _ => {
                if let Some(id) = self.isolated.pop() {
                    self.sim.by_hand(|engine, now| engine.let_go(id, now));
                }
            }
        }
    }

    fn start(&mut self, source: &mut Source<'_>) {
        let plan = source.plan();
        let policy = &plan.policy;
        let mut told = Told {
            trace: 0,
            slot: 0,
            limit: policy.retry.limit,
            statuses: policy.retry.statuses,
            total: policy.total_timeout.is_some(),
            throws: plan.throws,
            circuit: plan.circuit.is_some() && policy.on_circuit_open == OnCircuitOpen::Reject,
            rejects_offline: policy.on_offline == OnOffline::Reject,
            holds: policy.on_exhausted == OnExhausted::Hold,
            clicked: plan.run > 1,
            cancelled: false,
        };
        (told.trace, told.slot) = self.sim.start(plan);
        self.calls.push(told);
    }

    fn late(&mut self, slot: u32, seq: u32, source: &mut Source<'_>) {
        if self.sim.engine.is_current(slot, seq) {
            return;
        }
        let input = match source.byte() % 3 {
            0 => Input::BodyRead { seq },
            1 => Input::NotAResponse { seq },
            _ => Input::Outcome { seq, outcome: source.outcome(), failure: source.one(&[None, Some(true)]) },
        };
        // Told with a clock that lags behind, too: time never runs back.
        let back = source.span(1_000.0);
        let mut effect = false;
        self.sim.by_hand(|engine, now| {
            let before = engine.now();
            engine.handle(slot, Input::Watched, now);
            effect = engine.handle(slot, input, now - back);
            assert!(engine.now() >= before, "time ran back");
        });
        assert!(!effect, "an attempt that is over had an effect");
    }

    /// Both clocks go on, or jump.
    fn clocks(&mut self, mono: f64, wall: f64) {
        self.mono += mono;
        self.wall += wall;
        let now = self.clock.read(self.mono, self.wall);
        assert!(now >= self.last, "the clock ran back");
        let elapsed = (now - self.last).as_ms();
        assert!(elapsed >= mono - ROUNDING, "the clock lost time");
        assert!(elapsed <= mono.max(wall) + NOISE, "the clock made time");
        self.last = now;
        self.sim.now = self.sim.now.max((now - Instant::default()).as_ms());
        assert!(self.clock.wall_ms(now) >= 0.0);
    }

    fn pass(&mut self) {
        self.sim.run_until(self.sim.now);
        let now = Instant::from_ms(self.sim.now);
        assert!(self.sim.engine.next_timeout().is_none_or(|at| at > now), "a deadline was left behind");
    }

    // ------------------------------------------------------------ what has to be true

    /// After every step.
    fn check(&self) {
        let mut counts = Counts::default();
        for call in self.calls.iter().filter(|call| self.is_live(call)) {
            let trace = &self.sim.traces[call.trace];
            let (_, attempt, view) = trace.states.last().expect("a call that is not over has a state");
            assert!(*attempt <= call.limit + 1, "more attempts than allowed");
            match view {
                View::Loading { .. } => counts.loading += 1,
                View::Waiting { .. } => counts.waiting += 1,
                View::Offline { .. } => counts.offline += 1,
                View::Queued { .. } => counts.queued += 1,
                View::Held { .. } => {}
            }
        }
        assert_eq!(self.sim.engine.counts(), counts, "the counters tell of other states than the listeners");
        if counts == Counts::default() && self.isolated.is_empty() && !self.sim.engine.needs_page() {
            assert_eq!(self.sim.engine.next_timeout(), None, "a timer for nobody");
        }
    }

    /// Whatever happened, all calls end by themselves, but those that wait for a person.
    fn end(mut self) {
        for id in std::mem::take(&mut self.isolated) {
            self.sim.by_hand(|engine, now| engine.let_go(id, now));
        }
        self.sim.set_page(Page::default());
        self.sim.by_hand(|engine, _| engine.set_observed(false));
        for index in 0..self.calls.len() {
            if self.is_live(&self.calls[index]) {
                self.sim.input(self.calls[index].slot, Input::Watch(false));
            }
        }
        loop {
            self.sim.run();
            let slots: Vec<u32> = self.calls.iter().map(|call| call.slot).collect();
            if !slots.into_iter().any(|slot| self.sim.answer(slot)) {
                break;
            }
        }
        self.check();
        for index in 0..self.calls.len() {
            let call = &self.calls[index];
            if self.is_live(call) {
                let state = self.sim.traces[call.trace].states.last().map(|(.., view)| *view);
                let held = matches!(state, Some(View::Held { .. }));
                assert!(call.holds && held, "it waits for nothing: {state:?}");
                self.calls[index].cancelled = true;
                self.sim.input(self.calls[index].slot, Input::Cancel);
            }
        }
        self.sim.assert_nothing_left();
        for call in &self.calls {
            self.check_end(call);
        }
    }

    fn check_end(&self, call: &Told) {
        let trace = &self.sim.traces[call.trace];
        assert!(trace.sent.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!(trace.states.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        // Whoever looks is told of changes only.
        assert!(trace.states.windows(2).all(|pair| (pair[0].1, pair[0].2) != (pair[1].1, pair[1].2)));
        // The last one may be given up while a hook prepares it.
        assert!(trace.aborted.len() <= trace.sent.len() + 1, "an attempt was aborted twice, or was none");
        let Some((ended, end, _)) = trace.end else { return };
        assert!(trace.sent.last().is_none_or(|&sent| sent <= ended), "sent after the end");
        assert!(call.cancelled == (end == End::Cancelled), "it ended as {end:?}");
        match end {
            End::Failed(FailReason::CallbackThrew) => assert!(call.throws),
            End::Failed(FailReason::Offline) => assert!(call.rejects_offline),
            End::Failed(FailReason::InvalidRequest) => panic!("nobody said that it is invalid"),
            End::Exhausted(ExhaustedReason::TotalTimeout, _) => assert!(call.total),
            End::CircuitOpen(..) => assert!(call.circuit),
            _ => {}
        }
        assert!(!(call.holds && matches!(end, End::Exhausted(..))), "exhausted, and not held");
        if !call.clicked {
            // Only a person may come earlier than the server said.
            for &(at, until, _) in trace.told.iter().filter(|told| call.heeds(told.2)) {
                let early = trace.sent.iter().find(|&&sent| sent > at && sent < until - ROUNDING);
                assert_eq!(early, None, "told at {at} to stay away until {until}: {trace:#?}");
            }
        }
    }
}
