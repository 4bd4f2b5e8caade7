//! What the benches do to the engine: inputs as a page gives them, commands taken as `src/web/driver.rs` takes them.
#![allow(dead_code)]

use std::hint::black_box;
use std::sync::Arc;

use steadfetch::core::call::{Action, Command, Hooks, Input, Setup};
use steadfetch::core::classify::{Outcome, Traits};
use steadfetch::core::connectivity::Page;
use steadfetch::core::engine::Engine;
use steadfetch::core::policy::{Breaker, Jitter, OnCircuitOpen, Policy, Retry};
use steadfetch::core::time::{Instant, Span};

const KEY: &str = "https://api.example.com";
/// How long the server takes, in milliseconds.
const LATENCY: f64 = 50.0;
const OK: u16 = 200;
const UNAVAILABLE: u16 = 503;
/// A thousand years: no bench runs to the end of it.
const LONG: Span = Span::from_secs(31_536_000_000);

/// One of those whose instructions are counted.
pub struct Scenario {
    pub name: &'static str,
    pub world: fn() -> World,
    pub run: fn(&mut World),
}

/// So many times that what only some of them cost, as a new slice of the circuit's window, is in the mean.
const TIMES: usize = 1_000;

pub const SCENARIOS: [Scenario; 9] = [
    Scenario { name: "success", world: World::by_default, run: |world| world.times(World::success) },
    Scenario { name: "retry", world: World::unsteady, run: |world| world.times(World::retry) },
    Scenario { name: "circuit", world: World::around_a_circuit, run: |world| world.times(World::circuit) },
    Scenario {
        name: "beside_100000",
        world: || World::waiting(100_000),
        run: |world| world.times(World::success),
    },
    Scenario {
        name: "countdown_1",
        world: || World::counting_down(1),
        run: |world| world.times(World::second),
    },
    Scenario { name: "countdown_10000", world: || World::counting_down(10_000), run: World::second },
    Scenario { name: "countdown_100000", world: || World::counting_down(100_000), run: World::second },
    Scenario { name: "cancel_waiting_10000", world: || World::waiting(10_000), run: World::cancel },
    Scenario { name: "cancel_queued_10000", world: || World::queued(10_000), run: World::cancel },
];

/// One engine, and a page around it in virtual time.
#[derive(Clone)]
pub struct World {
    engine: Engine,
    /// In milliseconds.
    now: f64,
    policy: Arc<Policy>,
    batch: Vec<Command>,
    /// The attempt that was sent last.
    sent: u32,
    /// Calls that wait, in the order in which they came.
    crowd: Vec<u32>,
    /// What was told so far: states and ends of calls, changes of circuits.
    pub transitions: u64,
}

impl World {
    fn new(policy: Policy) -> Self {
        Self {
            engine: Engine::new(7, Page::default()),
            now: 0.0,
            policy: Arc::new(policy),
            batch: Vec::new(),
            sent: 0,
            crowd: Vec::new(),
            transitions: 0,
        }
    }

    // ------------------------------------------------------------ worlds

    /// With the options that a client has by itself.
    pub fn by_default() -> Self {
        Self::new(Policy::default()).warm(Self::success)
    }

    /// Every call fails once. No number of failures opens the circuit or uses up the budget.
    pub fn unsteady() -> Self {
        Self::new(tireless(Retry::default())).warm(Self::retry)
    }

    /// Nothing is retried, so that calls alone open the circuit and close it.
    pub fn around_a_circuit() -> Self {
        let retry = Retry { limit: 0, ..Retry::default() };
        Self::new(Policy { retry, budget: None, ..Policy::default() }).warm(Self::circuit)
    }

    /// So many calls wait for their second attempt.
    pub fn waiting(calls: usize) -> Self {
        let retry = Retry { delay: LONG, backoff_limit: LONG, jitter: Jitter::Equal, ..Retry::default() };
        let mut world = Self::new(tireless(retry));
        for _ in 0..calls {
            let slot = world.start();
            world.answer(slot, UNAVAILABLE);
            world.crowd.push(slot);
        }
        world
    }

    /// The same, and each shows its countdown.
    pub fn counting_down(calls: usize) -> Self {
        let mut world = Self::waiting(calls);
        for slot in world.crowd.clone() {
            world.input(slot, Input::Watch(true));
        }
        world
    }

    /// So many calls wait for a circuit that is open.
    pub fn queued(calls: usize) -> Self {
        let retry = Retry { limit: 0, ..Retry::default() };
        let policy =
            Policy { retry, budget: None, on_circuit_open: OnCircuitOpen::Wait, ..Policy::default() };
        let mut world = Self::new(policy);
        world.open();
        for _ in 0..calls {
            let slot = world.start();
            world.crowd.push(slot);
        }
        world
    }

    /// Tables have the size that they keep.
    fn warm(mut self, act: fn(&mut Self)) -> Self {
        act(&mut self);
        self.transitions = 0;
        self
    }

    // ------------------------------------------------------------ what happens

    /// Start, success.
    pub fn success(&mut self) {
        let slot = self.start();
        self.answer(slot, OK);
    }

    /// Start, failure, backoff, retry, success.
    pub fn retry(&mut self) {
        let slot = self.start();
        self.answer(slot, UNAVAILABLE);
        if let Some(at) = self.engine.next_timeout() {
            self.ring(at);
        }
        self.answer(slot, OK);
    }

    /// Calls fail until the circuit opens, one is refused, one goes through half-open and closes it.
    pub fn circuit(&mut self) {
        self.open();
        self.start();
        self.now += Breaker::default().half_open_after.as_ms();
        self.success();
    }

    /// One second passes, and each call that is watched tells what is left.
    pub fn second(&mut self) {
        self.wake_until(self.now + 1_000.0);
    }

    /// One signal cancels all that wait, in the two rounds of `driver.rs`.
    pub fn cancel(&mut self) {
        let crowd = std::mem::take(&mut self.crowd);
        let now = self.at();
        for &slot in &crowd {
            if self.engine.is_queued(slot) {
                self.engine.drop_out(slot, now);
                self.drain();
            }
        }
        for slot in crowd {
            self.input(slot, Input::Cancel);
        }
    }

    fn times(&mut self, act: fn(&mut Self)) {
        for _ in 0..TIMES {
            act(self);
        }
    }

    fn open(&mut self) {
        for _ in 0..Breaker::default().consecutive_failures {
            let slot = self.start();
            self.answer(slot, UNAVAILABLE);
        }
    }

    // ------------------------------------------------------------ how

    fn at(&self) -> Instant {
        Instant::from_ms(self.now)
    }

    fn start(&mut self) -> u32 {
        let now = self.at();
        let circuit = self.engine.resolve(KEY, self.policy.breaker, now);
        let slot = self.engine.insert(Setup {
            policy: Arc::clone(&self.policy),
            circuit: Some(circuit),
            traits: Traits { listed: true, keyed: false, replayable: true },
            hooks: Hooks::default(),
            run: 1,
        });
        self.input(slot, Input::Start);
        slot
    }

    fn answer(&mut self, slot: u32, status: u16) {
        self.now += LATENCY;
        let outcome = Outcome::Answer { status, hint: None };
        self.input(slot, Input::Outcome { seq: self.sent, outcome, failure: None });
    }

    fn input(&mut self, slot: u32, input: Input) {
        self.engine.handle(slot, input, self.at());
        self.drain();
    }

    fn wake_until(&mut self, end: f64) {
        let until = Instant::from_ms(end);
        while let Some(at) = self.engine.next_timeout().filter(|&at| at <= until) {
            self.ring(at);
        }
        self.now = end;
    }

    /// Timers of a page ring at whole milliseconds.
    fn ring(&mut self, at: Instant) {
        self.now = self.now.max((at - Instant::default()).as_ms().ceil());
        while self.engine.wake(self.at()) {
            self.drain();
        }
        self.drain();
    }

    fn drain(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        loop {
            self.engine.take_commands(&mut batch);
            if batch.is_empty() {
                break;
            }
            for Command { slot, action } in batch.drain(..) {
                match action {
                    Action::Send { seq } => self.sent = seq,
                    Action::State { .. } | Action::Circuit(_) => self.transitions += 1,
                    Action::Settle { .. } => {
                        self.transitions += 1;
                        self.engine.remove(slot);
                    }
                    _ => {}
                }
            }
        }
        self.batch = batch;
        // What the page sets its timer to.
        black_box(self.engine.next_timeout());
    }
}

/// With a circuit that never opens and without a budget.
fn tireless(retry: Retry) -> Policy {
    let breaker = Breaker { consecutive_failures: 0, minimum_calls: u32::MAX, ..Breaker::default() };
    Policy { retry, breaker: Some(breaker), budget: None, ..Policy::default() }
}
