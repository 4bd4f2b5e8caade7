//! Calls around one circuit: the whole engine, driven as `src/web` drives it, through every order of what may happen
//! to them. All lengths of time are whole multiples of ten seconds, so that what takes as long comes together.

use std::sync::Arc;

use stateright::{Model, Property};
use steadfetch::core::breaker::{Breaker, Status};
use steadfetch::core::budget::Bucket;
use steadfetch::core::call::{AbortReason, Action, Command, End, ExhaustedReason, Hooks, Input, Setup, View};
use steadfetch::core::classify::{Outcome, Traits};
use steadfetch::core::connectivity::Page;
use steadfetch::core::engine::{Counts, Engine, Kept};
use steadfetch::core::hints::{Hint, HintSource};
use steadfetch::core::policy::{self, Budget, Jitter, OnCircuitOpen, OnExhausted, Policy, Retry};
use steadfetch::core::registry::{CircuitId, Entry};
use steadfetch::core::time::{Instant, Span};

use super::canonical::{Present, fingerprint};
use super::{Known, exhaust};

const STEP: Span = Span::from_secs(10);
const KEY: &str = "a";

const PROBES: &str = "never more probes out than permits, and none is lost";
const PASSES: &str = "nothing passes an open circuit";
const PAST: &str = "what belongs to a past epoch or attempt changes nothing";
const CLOSED: &str = "closed stays reachable";
const TOKENS: &str = "no token of the budget is lost or made";
const AFFORDS: &str = "a retry is refused by the budget when it is spent, and only then";
const EARLY: &str = "open does not end early but by a person";
const SETTLES: &str = "every call settles and leaves nothing behind";
const EVENTS: &str = "one event per transition";
const QUEUE: &str = "the queue holds who waits, and the counters count who is there";

/// Fields of the engine that decide nothing here: times that are only told, numbers that only grow, options that are
/// the same all the time, the window where no share opens the circuit, random bits where nothing is jittered, and what
/// is only carried to the promise. The budget comes as what it is when it is filled up to now.
pub const WITHOUT: &[&str] = &[
    "now",
    "rng",
    "version",
    "seq",
    "setup",
    "started",
    "shown",
    "delay",
    "previous",
    "places",
    "key",
    "hash",
    "last_used",
    "policy",
    "probes_made",
    "promised",
    "heard",
    "window",
    "free",
    "last",
    "sent",
    "sent_before",
    "reason",
    "source",
    "budget",
];

/// What a call looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Idle,
    Loading,
    Waiting,
    Offline,
    Queued,
    Held,
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    told: Told,
    /// Starts that are left.
    left: u8,
    /// The attempt under way.
    seq: u32,
    /// One before it, whose answer may still come.
    past: Option<u32>,
    attempt: u32,
    /// `beforeRetry` runs.
    asked: bool,
    clicked: bool,
    /// The epoch in which it was let through, and whether as a probe.
    admitted: (u64, bool),
}

#[derive(Clone, Debug)]
struct World {
    engine: Engine,
    now: Instant,
    online: bool,
    calls: Vec<Seen>,
    holds: u8,
    restores: u8,
    /// What the budget must be, counted from outside: thousandths, and when that was.
    tokens: (u64, Instant),
    broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Start(usize),
    Answer(usize, Answer),
    Prepared(usize),
    Threw(usize),
    Cancel(usize),
    /// One signal that all calls but this one have.
    CancelOthers(usize),
    RetryNow(usize),
    Retry(usize),
    Wake,
    Pass(Instant),
    Online(bool),
    Isolate,
    LetGo,
    Reset,
    Restore,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Good,
    /// No such thing: a success for the circuit, a final failure for the call.
    NotFound,
    Broken,
    Busy,
    /// 503 with a `Retry-After`.
    Later,
}

impl Answer {
    fn outcome(self) -> Outcome {
        let answer = |status| Outcome::Answer { status, hint: None };
        match self {
            Self::Good => answer(200),
            Self::NotFound => answer(404),
            Self::Broken => Outcome::Network,
            Self::Busy => answer(429),
            Self::Later => {
                let hint = Some(Hint { wait: STEP, source: HintSource::RetryAfter });
                Outcome::Answer { status: 503, hint }
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Plan {
    policy: Arc<Policy>,
    hooks: Hooks,
    starts: u8,
}

#[derive(Clone, Debug)]
struct Calls {
    breaker: policy::Breaker,
    budget: Option<Budget>,
    calls: Vec<Plan>,
    answers: &'static [Answer],
    clicks: bool,
    connectivity: bool,
    hands: bool,
    restores: u8,
    observed: bool,
}

/// The circuit as its events tell of it, since a step began.
struct Circuit {
    status: Status,
    events: u64,
    epoch: u64,
    /// A person may end what is open early.
    person: bool,
}

impl World {
    fn entry(&self) -> &Entry {
        self.engine.circuit(CircuitId(0)).expect("the only key is used by a call or was a moment ago")
    }

    fn breaker(&self) -> &Breaker {
        &self.entry().breaker
    }

    fn note(&mut self, ok: bool, property: &'static str) {
        self.broken = self.broken.or((!ok).then_some(property));
    }

    fn refill(&mut self, budget: &Budget) -> u64 {
        let step = Span::from_ms(10.0);
        let steps = self.now.slice(step) - self.tokens.1.slice(step);
        self.tokens = ((self.tokens.0 + steps).min(budget.capacity), self.now);
        self.tokens.0
    }

    /// Calls that have begun and are not over.
    fn pending(&self) -> impl Iterator<Item = u32> {
        let pending = |(_, call): &(_, &Seen)| !matches!(call.told, Told::Idle | Told::Over);
        (0..).zip(&self.calls).filter(pending).map(|(slot, _)| slot)
    }

    fn probes_out(&self) -> usize {
        let epoch = self.breaker().epoch();
        self.calls.iter().filter(|c| c.told == Told::Loading && c.admitted == (epoch, true)).count()
    }

    fn told(&self, told: Told) -> impl Iterator<Item = u32> {
        (0..).zip(&self.calls).filter(move |(_, call)| call.told == told).map(|(slot, _)| slot)
    }

    /// Times at which something is due.
    fn deadlines(&self) -> impl Iterator<Item = Instant> {
        let entry = self.entry();
        let ramp = entry.ramp.map(|ramp| ramp.next());
        let parked = entry.parked.map(|parked| parked.until);
        let due = [self.engine.next_timeout(), entry.breaker.next_timeout(), ramp, parked];
        due.into_iter().flatten().filter(|at| *at > self.now)
    }

    /// The attempt of that call ends.
    fn outcome(&mut self, model: &Calls, index: usize, outcome: Outcome) {
        let Seen { seq, attempt, clicked, admitted, .. } = self.calls[index];
        let slot = index as u32;
        if let Some(budget) = &model.budget {
            let tokens = self.refill(budget);
            let mends = match outcome {
                Outcome::Answer { status, .. } => matches!(status, 429 | 503),
                _ => true,
            };
            if mends && self.online && !clicked {
                self.tokens.0 = tokens.saturating_sub(Budget::TOKEN);
            } else if outcome.is_success() && attempt == 1 && !clicked {
                self.tokens.0 = (tokens + budget.ratio).min(budget.capacity);
            }
        }
        // What time alone does comes first.
        let mut copy = self.engine.clone();
        copy.handle(slot, Input::Outcome { seq: u32::MAX, outcome, failure: None }, self.now);
        let breaker = &copy.circuit(CircuitId(0)).expect("as before").breaker;
        let stood = (breaker.epoch(), breaker.view(self.now).consecutive_failures);
        self.engine.handle(slot, Input::Outcome { seq, outcome, failure: None }, self.now);
        if admitted.0 != stood.0 {
            let breaker = self.breaker();
            let stands = (breaker.epoch(), breaker.view(self.now).consecutive_failures);
            self.note(stands == stood, PAST);
        }
    }

    /// Carries out one step and all that follows from it, and looks at it from outside.
    fn act(&mut self, model: &Calls, act: Act) {
        let (was, mut epoch) = (self.breaker().status(), self.breaker().epoch());
        let beneath = self.breaker().beneath();
        let (id, now) = (CircuitId(0), self.now);
        let mut clicked = None;
        let mut effect = true;
        let mut seen =
            Circuit { status: was, events: 0, epoch, person: matches!(act, Act::Isolate | Act::Reset) };
        match act {
            Act::Start(index) => effect = self.engine.handle(index as u32, Input::Start, now),
            Act::Answer(index, answer) => self.outcome(model, index, answer.outcome()),
            Act::Prepared(index) => effect = self.engine.handle(index as u32, Input::Prepared, now),
            Act::Threw(index) => effect = self.engine.handle(index as u32, Input::Threw, now),
            Act::Cancel(index) => effect = self.engine.handle(index as u32, Input::Cancel, now),
            Act::CancelOthers(index) => {
                for queued in [true, false] {
                    for slot in self.pending().filter(|&slot| slot != index as u32).collect::<Vec<_>>() {
                        if !queued {
                            effect &= self.engine.handle(slot, Input::Cancel, now);
                        } else if self.engine.is_queued(slot) {
                            self.engine.drop_out(slot, now);
                        }
                        self.carry_out(model, None, &mut seen);
                    }
                }
            }
            Act::RetryNow(index) => {
                // Without effect where its turn has come anyway, or a probe is out.
                clicked = self.engine.handle(index as u32, Input::RetryNow, now).then_some(index);
            }
            Act::Retry(index) => {
                clicked = Some(index);
                effect = self.engine.handle(index as u32, Input::Retry, now);
            }
            // Whatever comes before the rest is woken, comes in this model too.
            Act::Wake => {
                self.engine.wake(now);
            }
            Act::Pass(at) => self.now = at,
            Act::Online(online) => {
                self.online = online;
                self.engine.set_page(Page { online, visible: false }, now);
            }
            Act::Isolate => {
                self.holds += 1;
                self.engine.isolate(id, now);
            }
            Act::LetGo => {
                self.holds -= 1;
                self.engine.let_go(id, now);
            }
            Act::Reset => self.engine.reset(id, now),
            Act::Restore => {
                self.restores -= 1;
                let budget = model.budget.map(|_| (0, Span::ZERO));
                let kept = Kept { key: KEY, circuit: Some((now + STEP, 0, None)), budget, parked: None };
                self.engine.restore(kept, &model.calls[0].policy, now);
                self.tokens = (0, now);
            }
        }
        self.note(effect, SETTLES);
        seen.person |= clicked.is_some();
        self.carry_out(model, clicked, &mut seen);
        let Circuit { mut status, mut events, .. } = seen;
        if act == Act::Restore {
            // Nobody can be listening before the client is made.
            events += u64::from(was == Status::Closed);
            status = self.breaker().status();
        }
        // What is held is closed beneath the hand, and nobody sees it.
        epoch += u64::from(act == Act::Reset && was == Status::Isolated && beneath != Status::Closed);
        let breaker = self.breaker();
        self.note(breaker.epoch() == epoch + events && breaker.status() == status, EVENTS);
        self.look(model);
        if let (Act::Answer(index, answer), Some(budget)) = (act, model.budget) {
            let free = !self.online && answer == Answer::Broken;
            let again = matches!(self.calls[index].told, Told::Waiting | Told::Queued | Told::Offline);
            self.note(!again || free || self.tokens.0 > budget.bound(), AFFORDS);
        }
    }

    fn carry_out(&mut self, model: &Calls, clicked: Option<usize>, seen: &mut Circuit) {
        let mut batch = Vec::new();
        loop {
            self.engine.take_commands(&mut batch);
            if batch.is_empty() {
                break;
            }
            for Command { slot, action } in std::mem::take(&mut batch) {
                match action {
                    Action::Circuit(view) => {
                        let was = std::mem::replace(&mut seen.status, view.status);
                        let changed = std::mem::discriminant(&was) != std::mem::discriminant(&view.status);
                        self.note(changed, EVENTS);
                        if let Status::Open(until) = was {
                            self.note(seen.person || until <= self.now, EARLY);
                        }
                        seen.events += 1;
                    }
                    _ => {
                        let circuit = (seen.epoch + seen.events, seen.status);
                        self.command(model, slot as usize, action, clicked, circuit);
                    }
                }
            }
        }
    }

    fn command(
        &mut self,
        model: &Calls,
        index: usize,
        action: Action,
        clicked: Option<usize>,
        circuit: (u64, Status),
    ) {
        let (epoch, status) = circuit;
        let mut call = self.calls[index];
        match action {
            Action::State { attempt, view } => {
                self.note(call.told != Told::Over, SETTLES);
                call.told = match view {
                    View::Loading { probe } => {
                        self.note(matches!(status, Status::Closed | Status::HalfOpen), PASSES);
                        self.note(probe == (status == Status::HalfOpen), PASSES);
                        call.admitted = (epoch, probe);
                        call.clicked = clicked == Some(index);
                        Told::Loading
                    }
                    View::Waiting { .. } => Told::Waiting,
                    View::Offline { .. } => Told::Offline,
                    View::Queued { .. } => Told::Queued,
                    View::Held { reason, .. } => {
                        self.spent(model, reason);
                        Told::Held
                    }
                };
                call.attempt = attempt;
            }
            Action::Send { seq } | Action::AskBeforeRetry { seq, .. } => {
                if call.seq != seq {
                    call.past = Some(call.seq).filter(|&seq| seq > 0).or(call.past);
                }
                call.seq = seq;
                call.asked = matches!(action, Action::AskBeforeRetry { .. });
            }
            Action::Abort { why: AbortReason::Timeout, .. } => {
                return self.outcome(model, index, Outcome::Timeout);
            }
            Action::Settle { end, .. } => {
                self.note(call.told != Told::Over, SETTLES);
                if let End::Exhausted(reason, _) = end {
                    self.spent(model, reason);
                }
                call.past = Some(call.seq).filter(|&seq| seq > 0);
                call.told = Told::Over;
                self.engine.remove(index as u32);
                if call.left > 0 {
                    call.left -= 1;
                    call.told = Told::Idle;
                    let slot = self.engine.insert(model.setup(index));
                    self.note(slot == index as u32, SETTLES);
                }
            }
            Action::Discard | Action::Failure { .. } | Action::Abort { .. } => {}
            _ => unreachable!("no hook is asked but beforeRetry, and no body is read: {action:?}"),
        }
        self.calls[index] = call;
    }

    fn spent(&mut self, model: &Calls, reason: ExhaustedReason) {
        if reason == ExhaustedReason::Budget {
            let spent = model.budget.is_some_and(|budget| self.refill(&budget) <= budget.bound());
            self.note(spent, AFFORDS);
        }
    }

    /// What must be true after each step.
    fn look(&mut self, model: &Calls) {
        let mut breaker = self.breaker().clone();
        if breaker.status() == Status::HalfOpen {
            let (out, permits) = (self.probes_out(), model.breaker.half_open_probes as usize);
            let admits = |_: &i32| breaker.admit(model.breaker, STEP, false, self.now).is_ok();
            let left = (0..10).take_while(admits).count();
            self.note(out <= permits && left == permits - out, PROBES);
        }
        if let Some(budget) = &model.budget {
            let tokens = self.refill(budget);
            let mut bucket = self.entry().budget;
            let real = bucket
                .as_mut()
                .map_or(budget.capacity, |bucket: &mut Bucket| bucket.refill(budget, self.now));
            self.note(real == tokens, TOKENS);
        }
        let mut waiters: Vec<u32> = self.engine.waiters(CircuitId(0)).collect();
        waiters.sort_unstable();
        let count = |told| self.told(told).count() as u32;
        let counts = Counts {
            loading: count(Told::Loading),
            waiting: count(Told::Waiting),
            offline: count(Told::Offline),
            queued: count(Told::Queued),
        };
        let ok = self.told(Told::Queued).eq(waiters) && self.engine.counts() == counts;
        self.note(ok, QUEUE);
    }

    /// An answer to an attempt that is over, of each call that has one.
    fn forgets_the_past(&self) -> bool {
        let mut engine = self.engine.clone();
        let mut commands = Vec::new();
        // What time alone does comes first.
        let late = |seq| Input::Outcome { seq, outcome: Outcome::Network, failure: None };
        for slot in 0..self.calls.len() as u32 {
            engine.handle(slot, late(u32::MAX), self.now);
        }
        engine.take_commands(&mut commands);
        let before = format!("{engine:?}");
        let mut none = Vec::new();
        (0..).zip(&self.calls).filter_map(|(slot, call)| Some((slot, call.past?))).all(|(slot, past)| {
            let effect = engine.handle(slot, late(past), self.now);
            engine.take_commands(&mut none);
            !effect && none.is_empty()
        }) && format!("{engine:?}") == before
    }

    /// Goes on until nothing is left to happen: hands let go, hooks and attempts end as told, time passes.
    fn goes_on(&self, model: &Calls, answer: Option<Answer>) -> Self {
        let mut world = self.clone();
        if !world.online {
            world.act(model, Act::Online(true));
        }
        while world.holds > 0 {
            world.act(model, Act::LetGo);
        }
        for _ in 0..200 {
            let next = world.calls.iter().enumerate().find_map(|(index, call)| match call.told {
                Told::Loading if call.asked => Some(Act::Prepared(index)),
                Told::Loading => answer.map(|answer| Act::Answer(index, answer)),
                Told::Held => Some(Act::Cancel(index)),
                _ => None,
            });
            match (next, world.engine.next_timeout()) {
                (Some(act), _) => world.act(model, act),
                (None, Some(at)) => {
                    world.now = world.now.max(at);
                    world.act(model, Act::Wake);
                }
                (None, None) => break,
            }
        }
        world
    }

    fn settles(&self, model: &Calls) -> bool {
        let answered = [Answer::Good, Answer::Broken, Answer::Later].into_iter().all(|answer| {
            let world = self.goes_on(model, Some(answer));
            let over = |call: &Seen| matches!(call.told, Told::Over | Told::Idle);
            let entry = world.entry();
            let permits =
                entry.breaker.status() != Status::HalfOpen || entry.breaker.refusal(false).is_none();
            let idle = world.told(Told::Idle).count() as u32;
            world.broken.is_none()
                && world.calls.iter().all(over)
                && world.engine.next_timeout().is_none()
                && permits
                && entry.users == idle
        });
        // What is never answered and has no limit of time stays under way; all others settle.
        let silent = self.goes_on(model, None);
        let stays = |(index, call): (usize, &Seen)| match call.told {
            Told::Over | Told::Idle => true,
            Told::Loading => model.calls[index].policy.timeout.is_none(),
            _ => false,
        };
        answered && silent.broken.is_none() && silent.calls.iter().enumerate().all(stays)
    }

    /// Everything fails, time passes, and then fresh calls succeed.
    fn recovers(&self, model: &Calls) -> bool {
        let mut world = self.goes_on(model, Some(Answer::Broken));
        for _ in 0..10 {
            let index = world.engine.insert(model.fresh()) as usize;
            let fresh = Seen { told: Told::Idle, ..model.idle(0) };
            match world.calls.get_mut(index) {
                Some(call) => *call = fresh,
                None => world.calls.push(fresh),
            }
            world.act(model, Act::Start(index));
            world = world.goes_on(model, Some(Answer::Good));
            if world.breaker().status() == Status::Closed {
                return world.broken.is_none();
            }
        }
        false
    }
}

impl Calls {
    fn setup(&self, index: usize) -> Setup {
        let Plan { policy, hooks, .. } = &self.calls[index];
        let traits = Traits { listed: true, keyed: false, replayable: true };
        Setup { policy: Arc::clone(policy), circuit: Some(CircuitId(0)), traits, hooks: *hooks, run: 1 }
    }

    /// One that waits at the circuit and is not retried.
    fn fresh(&self) -> Setup {
        let policy = Arc::new(call(self.breaker, self.budget, 0));
        Setup { policy, hooks: Hooks::default(), ..self.setup(0) }
    }

    fn idle(&self, left: u8) -> Seen {
        Seen {
            told: Told::Idle,
            left,
            seq: 0,
            past: None,
            attempt: 0,
            asked: false,
            clicked: false,
            admitted: (0, false),
        }
    }

    fn known(&self, of: World) -> Known<World> {
        let present = Present {
            now: of.now,
            epoch: of.breaker().epoch(),
            longest_run: self.breaker.consecutive_failures.into(),
            slice: 0,
            without: WITHOUT,
        };
        let left: Vec<u8> = of.calls.iter().map(|call| call.left).collect();
        // `look` has found the budget to be what it is seen to be.
        let rest = (left, of.holds, of.restores, of.tokens.0);
        let form = fingerprint(&of.engine, &rest, present);
        Known { form, broken: of.broken, of }
    }
}

impl Model for Calls {
    type State = Known<World>;
    type Action = Act;

    fn init_states(&self) -> Vec<Self::State> {
        let now = Instant::from_ms(3_600_000.0);
        let mut engine = Engine::new(1, Page { online: true, visible: false });
        engine.resolve(KEY, Some(self.breaker), now);
        engine.set_observed(self.observed);
        let mut calls = Vec::new();
        for (index, plan) in self.calls.iter().enumerate() {
            engine.insert(self.setup(index));
            calls.push(self.idle(plan.starts - 1));
        }
        let tokens = (self.budget.map_or(0, |budget| budget.capacity), now);
        vec![self.known(World {
            engine,
            now,
            online: true,
            calls,
            holds: 0,
            restores: self.restores,
            tokens,
            broken: None,
        })]
    }

    fn actions(&self, Known { of, broken, .. }: &Self::State, actions: &mut Vec<Act>) {
        if broken.is_some() {
            return;
        }
        for (index, call) in of.calls.iter().enumerate() {
            match call.told {
                Told::Idle => actions.push(Act::Start(index)),
                Told::Loading if call.asked => actions.extend([Act::Prepared(index), Act::Threw(index)]),
                Told::Loading => {
                    actions.extend(self.answers.iter().map(|&answer| Act::Answer(index, answer)))
                }
                Told::Waiting | Told::Offline | Told::Queued if self.clicks => {
                    actions.push(Act::RetryNow(index))
                }
                Told::Held => actions.push(Act::Retry(index)),
                _ => {}
            }
            if !matches!(call.told, Told::Idle | Told::Over) {
                actions.push(Act::Cancel(index));
            }
        }
        for index in 0..of.calls.len() {
            if of.pending().filter(|&slot| slot != index as u32).count() > 1 {
                actions.push(Act::CancelOthers(index));
            }
        }
        if of.engine.next_timeout().is_some_and(|at| at <= of.now) {
            // A timer may be late, but some time it fires.
            actions.push(Act::Wake);
        } else {
            actions.extend(of.deadlines().min().map(Act::Pass));
            actions.push(Act::Pass(of.now + Span::from_secs(3_600)));
        }
        if self.connectivity {
            actions.push(Act::Online(!of.online));
        }
        if self.hands {
            actions.push(if of.holds == 0 { Act::Isolate } else { Act::LetGo });
            actions.push(Act::Reset);
        }
        if of.restores > 0 {
            actions.push(Act::Restore);
        }
    }

    fn next_state(&self, last: &Self::State, act: Act) -> Option<Self::State> {
        let mut of = last.of.clone();
        of.act(self, act);
        Some(self.known(of))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! kept {
            ($($name:ident),*) => {
                [$(Property::<Self>::always($name, |_, state| state.broken != Some($name))),*]
            };
        }
        let mut all = Vec::from(kept![PROBES, PASSES, TOKENS, AFFORDS, EARLY, EVENTS, QUEUE]);
        all.push(Property::always(PAST, |_, state: &Known<World>| {
            state.broken != Some(PAST) && state.of.forgets_the_past()
        }));
        all.push(Property::always(SETTLES, |model: &Self, state: &Known<World>| {
            state.broken != Some(SETTLES) && state.of.settles(model)
        }));
        all.push(Property::always(CLOSED, |model: &Self, state: &Known<World>| state.of.recovers(model)));
        all.push(Property::sometimes("every permit is out", |model: &Self, state: &Known<World>| {
            state.of.probes_out() == model.breaker.half_open_probes as usize
        }));
        all
    }
}

/// A call that waits at the circuit and is not limited in time.
fn call(breaker: policy::Breaker, budget: Option<Budget>, limit: u32) -> Policy {
    Policy {
        retry: Retry { limit, delay: STEP, backoff_limit: STEP, jitter: Jitter::None, ..Retry::default() },
        timeout: None,
        breaker: Some(breaker),
        budget,
        on_circuit_open: OnCircuitOpen::Wait,
        tick: None,
        ..Policy::default()
    }
}

fn plan(policy: Policy) -> Plan {
    Plan { policy: Arc::new(policy), hooks: Hooks::default(), starts: 1 }
}

fn model(probes: u32, successes: u32) -> Calls {
    let breaker = policy::Breaker {
        consecutive_failures: 2,
        minimum_calls: u32::MAX,
        half_open_after: STEP,
        max_open: STEP,
        half_open_probes: probes,
        half_open_successes: successes,
        probe_lease: Some(STEP + STEP),
        ..policy::Breaker::default()
    };
    let budget = Some(Budget { capacity: 4 * Budget::TOKEN, ratio: 500, ..Budget::default() });
    let rejects = Policy { on_circuit_open: OnCircuitOpen::Reject, ..call(breaker, budget, 0) };
    let timed = Policy { timeout: Some(STEP), ..call(breaker, budget, 1) };
    Calls {
        breaker,
        budget,
        calls: vec![plan(call(breaker, budget, 1)), plan(rejects), plan(timed)],
        answers: &[Answer::Good, Answer::Broken, Answer::Busy],
        clicks: false,
        connectivity: false,
        hands: false,
        restores: 0,
        observed: false,
    }
}

#[test]
fn two_calls_and_everything_that_may_happen_to_them() {
    for (probes, successes) in [(1, 1), (2, 2)] {
        let mut all = model(probes, successes);
        all.calls.truncate(2);
        all.clicks = true;
        all.connectivity = true;
        all.hands = true;
        all.restores = 1;
        exhaust(&format!("two calls, everything, {probes} probes, {successes} successes"), all);
    }
}

#[test]
fn three_calls() {
    for (probes, successes) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        exhaust(&format!("three calls, {probes} probes, {successes} successes"), model(probes, successes));
    }
}

#[test]
fn three_calls_in_the_queue() {
    let mut queue = model(1, 1);
    queue.breaker.consecutive_failures = 1;
    let waits = plan(call(queue.breaker, queue.budget, 1));
    queue.calls = vec![waits.clone(), waits.clone(), waits];
    exhaust("three calls in the queue", queue);
}

#[test]
fn three_calls_with_clicks() {
    let mut clicked = model(1, 1);
    clicked.clicks = true;
    exhaust("three calls, clicks", clicked);
}

#[test]
fn three_calls_and_a_network_that_comes_and_goes() {
    let mut some = model(1, 1);
    some.connectivity = true;
    exhaust("three calls, connectivity", some);
}

#[test]
fn three_calls_and_hands_on_the_circuit() {
    let mut some = model(2, 1);
    some.hands = true;
    some.restores = 1;
    exhaust("three calls, hands", some);
}

#[test]
fn three_calls_and_everything_that_may_happen_to_them() {
    let mut all = model(1, 1);
    all.clicks = true;
    all.connectivity = true;
    all.hands = true;
    exhaust("three calls, everything", all);
}

#[test]
fn three_calls_with_a_hook_and_one_that_is_held() {
    let mut some = model(1, 2);
    some.answers = &[Answer::Good, Answer::Broken, Answer::Later, Answer::NotFound];
    some.calls[0].hooks.before_retry = true;
    let held = Policy { on_exhausted: OnExhausted::Hold, ..call(some.breaker, some.budget, 0) };
    some.calls[1] = plan(held);
    exhaust("three calls, hook, hold, Retry-After", some);
}

#[test]
fn three_calls_that_come_again() {
    let mut some = model(1, 1);
    some.calls.iter_mut().for_each(|plan| plan.starts = 2);
    exhaust("three calls, two times each", some);
}

#[test]
fn two_calls_that_come_again_while_someone_looks() {
    let mut some = model(1, 1);
    some.calls.truncate(2);
    some.calls.iter_mut().for_each(|plan| plan.starts = 3);
    some.observed = true;
    exhaust("two calls, three times each, observed", some);
}
