//! The circuit alone: admissions, outcomes of any age, hands and time, in every order.

use stateright::{Model, Property};
use steadfetch::core::breaker::{Breaker, Refusal, Status, Token, Verdict};
use steadfetch::core::policy;
use steadfetch::core::rng::Rng;
use steadfetch::core::time::{Instant, Span};

use super::canonical::{Present, fingerprint};
use super::{Known, exhaust};

const LEASE: Span = Span::from_secs(20);
const LEASE_STEP: Span = Span::from_secs(10);
const HINT: Span = Span::from_secs(30);
const JUST: Span = Span::from_ms(0.001);

const PROBES: &str = "never more probes out than permits, and none is lost";
const PAST: &str = "what belongs to a past epoch changes nothing";
const CLOSED: &str = "closed stays reachable";
const EARLY: &str = "open does not end early but by a person";
const EDGES: &str = "each step takes one edge of the diagram at most, and the right one";
const RULE: &str = "it opens when the rule is met and not before";
const LENGTH: &str = "the first open time is exact, later ones are no shorter and bounded";

#[derive(Clone, Debug)]
struct Circuit {
    breaker: Breaker,
    now: Instant,
    /// Admitted and not settled, of any age.
    out: Vec<Out>,
    /// Failures in a row, counted from outside.
    run: u32,
    /// Successes while half-open, counted from outside.
    wins: u32,
    /// Hands that hold it open, and what must be beneath them.
    holds: u32,
    beneath: Status,
}

#[derive(Clone, Copy, Debug)]
struct Out {
    token: Token,
    epoch: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Admit { click: bool },
    Record(usize, Verdict, Span, Span),
    Release(usize),
    Advance,
    Pass(Instant),
    Isolate,
    LetGo,
    Reset,
    Restore(Span),
}

#[derive(Clone, Copy, Debug)]
struct Circuits {
    policy: policy::Breaker,
    /// Most attempts under way.
    most: usize,
    /// By shares in a window, on a clock of half windows.
    windowed: bool,
}

impl Circuit {
    fn status(&self) -> Status {
        self.breaker.status()
    }

    fn current(&self, out: &Out) -> bool {
        out.epoch == self.breaker.epoch()
    }

    fn probes_out(&self) -> usize {
        self.out.iter().filter(|out| self.current(out) && out.token.is_probe()).count()
    }

    /// How many permits a half-open circuit has left, asked of a copy.
    fn permits_left(&self, policy: policy::Breaker) -> usize {
        let mut copy = self.breaker.clone();
        (0..10).take_while(|_| copy.admit(policy, LEASE, false, self.now).is_ok()).count()
    }

    /// Until it is closed: hands let go, what is out is lost or fails, time passes, fresh attempts succeed.
    fn recovers(&self, policy: policy::Breaker, lost: bool) -> bool {
        let Self { mut breaker, mut now, .. } = self.clone();
        let mut rng = Rng::new(1);
        for out in self.out.iter().filter(|_| !lost) {
            breaker.record(out.token, Verdict::Failure, Span::ZERO, Span::ZERO, now, &mut rng);
        }
        for _ in 0..10 {
            breaker.advance(now, &mut rng);
            match breaker.status() {
                Status::Closed => return true,
                Status::Isolated => breaker.let_go(),
                Status::Open(until) => now = now.max(until),
                Status::HalfOpen => match breaker.admit(policy, LEASE, false, now) {
                    Ok(token) => {
                        breaker.record(token, Verdict::Success, Span::ZERO, Span::ZERO, now, &mut rng);
                    }
                    Err(_) => match breaker.next_timeout() {
                        Some(at) => now = now.max(at),
                        None => return false,
                    },
                },
            }
        }
        false
    }
}

/// Whether two statuses are of one kind.
fn same(a: Status, b: Status) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b)
}

impl Circuits {
    fn rng() -> Rng {
        Rng::new(7)
    }

    /// What the circuit must answer, told from outside.
    fn expected(&self, circuit: &Circuit, click: bool) -> Result<(), Refusal> {
        let refused = |retry_at, probe_in_flight| Err(Refusal { retry_at, probe_in_flight });
        match circuit.status() {
            Status::Closed => Ok(()),
            Status::Open(_) if click => Ok(()),
            Status::Open(until) => refused(Some(until), false),
            Status::HalfOpen if circuit.probes_out() < self.policy.half_open_probes as usize => Ok(()),
            Status::HalfOpen => refused(None, true),
            Status::Isolated => refused(None, false),
        }
    }

    /// Carries out one step and looks at it from outside.
    fn step(&self, before: &Circuit, act: Act) -> (Circuit, Option<&'static str>) {
        let mut after = before.clone();
        let Circuit { breaker, now, out, run, wins, holds, beneath } = &mut after;
        let mut broken = None;
        let mut note = |ok: bool, property| broken = broken.or((!ok).then_some(property));
        let was = before.status();
        let mut person = false;
        let mut unseen = false;
        match act {
            Act::Admit { click } => {
                person = click;
                let answer = breaker.admit(self.policy, LEASE, click, *now);
                note(answer.map(|_| ()) == self.expected(before, click), PROBES);
                if let Ok(token) = answer {
                    out.push(Out { token, epoch: breaker.epoch() });
                    note(token.is_probe() != (was == Status::Closed), PROBES);
                }
            }
            Act::Record(index, verdict, duration, hint) => {
                let Out { token, epoch } = out.remove(index);
                breaker.record(token, verdict, duration, hint, *now, &mut Self::rng());
                if epoch != before.breaker.epoch() {
                    note(*breaker == before.breaker, PAST);
                } else {
                    match verdict {
                        Verdict::Success => *run = 0,
                        Verdict::Failure => *run += 1,
                        Verdict::Soft => {}
                    }
                    *wins += u32::from(was == Status::HalfOpen && verdict == Verdict::Success);
                    let good = verdict == Verdict::Success;
                    let policy = &self.policy;
                    let ok = match (was, breaker.status()) {
                        (Status::Closed, now) if self.windowed => now != Status::HalfOpen,
                        (Status::Closed, now) => {
                            let met = verdict == Verdict::Failure && *run >= policy.consecutive_failures;
                            met == matches!(now, Status::Open(_))
                        }
                        (Status::HalfOpen, Status::Open(_)) => !good,
                        (Status::HalfOpen, Status::Closed) => good && *wins >= policy.half_open_successes,
                        (Status::HalfOpen, Status::HalfOpen) => good && *wins < policy.half_open_successes,
                        _ => false,
                    };
                    note(ok, RULE);
                }
            }
            Act::Release(index) => {
                let Out { token, epoch } = out.remove(index);
                breaker.release(token);
                note(epoch == before.breaker.epoch() || *breaker == before.breaker, PAST);
                note(same(breaker.status(), was), EDGES);
            }
            Act::Advance => {
                breaker.advance(*now, &mut Self::rng());
                let due = before.breaker.next_timeout().is_some_and(|at| at <= *now);
                note(due || !matches!(was, Status::Open(_)) || same(was, breaker.status()), EARLY);
                let ok = match was {
                    Status::Open(_) if due => breaker.status() == Status::HalfOpen,
                    Status::HalfOpen if due => matches!(breaker.status(), Status::Open(_)),
                    Status::Isolated => {
                        if matches!(beneath, Status::Open(until) if *until <= *now) {
                            *beneath = Status::HalfOpen;
                        }
                        breaker.epoch() == before.breaker.epoch()
                    }
                    _ => *breaker == before.breaker,
                };
                note(ok, EDGES);
            }
            Act::Pass(at) => *now = at,
            Act::Isolate => {
                breaker.isolate();
                *holds += 1;
                if *holds == 1 {
                    *beneath = was;
                }
                person = true;
                note(breaker.status() == Status::Isolated, EDGES);
            }
            Act::LetGo => {
                breaker.let_go();
                *holds = holds.saturating_sub(1);
                let ok = match was {
                    Status::Isolated if *holds == 0 => breaker.status() == *beneath,
                    _ => same(breaker.status(), was),
                };
                note(ok, EDGES);
            }
            Act::Reset => {
                breaker.reset();
                person = true;
                *run = 0;
                let held = was == Status::Isolated;
                unseen = held && *beneath != Status::Closed;
                *beneath = Status::Closed;
                note(breaker.status() == if held { was } else { Status::Closed }, EDGES);
            }
            Act::Restore(span) => {
                breaker.restore(*now + span, 1, None);
                let ok = match was {
                    Status::Closed => breaker.status() == Status::Open(*now + span),
                    _ => *breaker == before.breaker,
                };
                note(ok, EDGES);
            }
        }
        let is = breaker.status();
        let turned = breaker.epoch() - before.breaker.epoch();
        note(turned == u64::from(!same(was, is) || unseen), EDGES);
        if let (Status::Open(until), true) = (was, turned > 0) {
            note(person || until <= *now, EARLY);
        }
        if let (Status::Open(until), true) = (is, turned > 0 && !matches!(act, Act::Restore(_) | Act::LetGo))
        {
            let hint = if let Act::Record(.., hint) = act { hint } else { Span::ZERO };
            let (first, most) = (self.policy.half_open_after, self.policy.max_open);
            // A lease that ran out did so when it ended, and not when it was seen.
            let lease = before.breaker.next_timeout().filter(|_| act == Act::Advance);
            let span = until - lease.unwrap_or(*now);
            let exact = span == first.max(hint);
            note(exact || was != Status::Closed && span >= first.max(hint) && span <= most.max(hint), LENGTH);
        }
        if *holds > 0 {
            note(breaker.beneath() == *beneath, EDGES);
        }
        // A hand forgets nothing.
        if turned > 0 && !matches!(act, Act::Isolate | Act::LetGo) {
            *wins = 0;
            if is == Status::Closed {
                *run = 0;
            }
        }
        if is == Status::HalfOpen {
            let out = after.probes_out();
            let permits = self.policy.half_open_probes as usize;
            note(out <= permits && after.permits_left(self.policy) == permits - out, PROBES);
        }
        (after, broken)
    }

    fn known(&self, of: Circuit, broken: Option<&'static str>) -> Known<Circuit> {
        let present = Present {
            now: of.now,
            epoch: of.breaker.epoch(),
            longest_run: self.policy.consecutive_failures.into(),
            slice: of.now.slice(self.policy.window.tenth()),
            without: if self.windowed {
                &["policy", "probes_made"]
            } else {
                &["policy", "probes_made", "window"]
            },
        };
        let form = fingerprint(&(&of.breaker, &of.out), &(), present);
        Known { form, of, broken }
    }
}

impl Model for Circuits {
    type State = Known<Circuit>;
    type Action = Act;

    fn init_states(&self) -> Vec<Self::State> {
        let breaker = Breaker::new(self.policy);
        let now = Instant::from_ms(3_600_000.0);
        let beneath = Status::Closed;
        vec![self.known(Circuit { breaker, now, out: Vec::new(), run: 0, wins: 0, holds: 0, beneath }, None)]
    }

    fn actions(&self, Known { of, broken, .. }: &Self::State, actions: &mut Vec<Act>) {
        if broken.is_some() {
            return;
        }
        let room = !self.windowed || of.breaker.view(of.now).calls as usize + of.out.len() < 4;
        if of.out.len() < self.most && room {
            actions.extend([Act::Admit { click: false }, Act::Admit { click: true }]);
        }
        for index in 0..of.out.len() {
            let slow = if self.windowed { Span::from_secs(2) } else { Span::ZERO };
            actions.extend([
                Act::Record(index, Verdict::Success, Span::ZERO, Span::ZERO),
                Act::Record(index, Verdict::Failure, Span::ZERO, Span::ZERO),
                Act::Record(index, Verdict::Soft, Span::ZERO, HINT),
                Act::Release(index),
            ]);
            if self.windowed {
                actions.push(Act::Record(index, Verdict::Success, slow, Span::ZERO));
            }
        }
        actions.extend([Act::Advance, Act::Isolate, Act::LetGo, Act::Reset]);
        actions.extend([Act::Restore(Span::ZERO), Act::Restore(Span::from_secs(10))]);
        if self.windowed {
            actions.extend([10, 20].map(|secs| Act::Pass(of.now + Span::from_secs(secs))));
        } else if let Some(at) = of.breaker.next_timeout().filter(|at| *at > of.now) {
            // Leases that overlap stay on a grid, or there were no end of ways in which they can.
            let before = at - if of.status() == Status::HalfOpen { LEASE_STEP } else { JUST };
            actions.extend([before, at].into_iter().filter(|at| *at > of.now).map(Act::Pass));
            actions.push(Act::Pass(of.now + Span::from_secs(3_600)));
        }
    }

    fn next_state(&self, last: &Self::State, act: Act) -> Option<Self::State> {
        if act == Act::Isolate && last.of.holds == 2 {
            return None;
        }
        let (of, broken) = self.step(&last.of, act);
        Some(self.known(of, broken))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! kept {
            ($($name:ident),*) => {
                [$(Property::<Self>::always($name, |_, state| state.broken != Some($name))),*]
            };
        }
        let mut all = Vec::from(kept![PROBES, PAST, EARLY, EDGES, RULE, LENGTH]);
        all.push(Property::always(CLOSED, |model: &Self, state: &Known<Circuit>| {
            [true, false].into_iter().all(|lost| state.of.recovers(model.policy, lost))
        }));
        all.push(Property::sometimes("every permit is out", |model: &Self, state: &Known<Circuit>| {
            state.of.probes_out() == model.policy.half_open_probes as usize
        }));
        all.push(Property::sometimes(
            "attempts of past epochs are under way",
            |_, state: &Known<Circuit>| state.of.out.iter().filter(|out| !state.of.current(out)).count() > 1,
        ));
        all
    }
}

fn policy(probes: u32, successes: u32) -> policy::Breaker {
    policy::Breaker {
        consecutive_failures: 2,
        minimum_calls: u32::MAX,
        half_open_after: Span::from_secs(10),
        max_open: Span::from_secs(35),
        half_open_probes: probes,
        half_open_successes: successes,
        ..policy::Breaker::default()
    }
}

#[test]
fn a_circuit_keeps_its_promises_in_every_order_of_events() {
    for (probes, successes) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let policy = policy(probes, successes);
        let name = format!("circuit, {probes} probes, {successes} successes");
        exhaust(&name, Circuits { policy, most: 3, windowed: false });
    }
}

#[test]
fn a_circuit_with_a_window_keeps_its_promises_in_every_order_of_events() {
    let policy = policy::Breaker {
        consecutive_failures: 0,
        minimum_calls: 3,
        window: Span::from_secs(20),
        slow_call_duration: Some(Span::from_secs(1)),
        max_open: Span::from_secs(10),
        ..policy(1, 1)
    };
    exhaust("circuit with a window", Circuits { policy, most: 2, windowed: true });
}
