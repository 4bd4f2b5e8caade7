//! What is kept of circuits and budgets for a reload, and taken up after it.

use crate::sim::{Plan, Sim, Step, ok, plan, status};
use steadfetch::core::breaker::{Reason, Status};
use steadfetch::core::engine::Kept;
use steadfetch::core::policy::{self, Budget, Policy};
use steadfetch::core::registry::Parked;
use steadfetch::core::time::{Instant, Span};

fn options() -> Policy {
    let breaker = policy::Breaker {
        consecutive_failures: 2,
        half_open_after: Span::from_ms(1_000.0),
        ..policy::Breaker::default()
    };
    Policy { breaker: Some(breaker), budget: Some(Budget::default()), ..Policy::default() }
}

fn one(step: Step) -> Plan {
    let policy = options();
    let breaker = policy.breaker.expect("it has one");
    plan(&[step]).with(|p| p.retry.limit = 0).behind("a", breaker).with(|p| p.budget = policy.budget)
}

/// A circuit that has opened at 0 and spent two tokens.
fn tripped() -> Sim {
    let mut sim = Sim::new(1);
    for _ in 0..2 {
        sim.start(one(status(503)));
        sim.run_until(0.0);
    }
    sim
}

/// Another page, at that time, which takes up what is kept in this one.
fn reloaded(sim: &mut Sim, at: f64, options: &Policy) -> Sim {
    sim.run_until(at);
    sim.by_hand(|engine, now| engine.wake(now));
    let mut next = Sim::new(2);
    next.now = at;
    for kept in sim.engine.kept() {
        next.by_hand(|engine, now| engine.restore(kept, options, now));
    }
    next
}

fn left(sim: &Sim) -> Option<u64> {
    let (_, entry) = sim.engine.circuits().next()?;
    entry.budget.map(|bucket| bucket.left())
}

#[test]
fn an_open_circuit_is_open_for_the_rest_of_its_time() {
    let mut sim = tripped();
    let mut next = reloaded(&mut sim, 400.0, &options());
    let view = next.circuit("a").unwrap();
    assert_eq!(
        (view.status, view.reason),
        (Status::Open(Instant::from_ms(1_000.0)), Some(Reason::Consecutive))
    );
    let (call, _) = next.start(one(ok()));
    assert_eq!(next.traces[call].sent, []);
    next.run_until(1_000.0);
    let (probe, _) = next.start(one(ok()));
    next.run_until(1_000.0);
    assert_eq!(next.traces[probe].sent, [1_000.0]);
    assert_eq!(next.circuit("a").unwrap().status, Status::Closed);
}

#[test]
fn a_half_open_circuit_begins_with_a_probe() {
    let mut sim = tripped();
    let mut next = reloaded(&mut sim, 1_500.0, &options());
    for expected in [1, 0] {
        let (call, _) = next.start(one(Step::Status(200, 10.0)));
        assert_eq!(next.traces[call].sent.len(), expected);
    }
}

#[test]
fn a_budget_has_what_was_left_of_it() {
    let mut sim = tripped();
    let before = left(&sim).unwrap();
    assert_eq!(before, Budget::default().capacity - 2 * Budget::TOKEN);
    let next = reloaded(&mut sim, 0.0, &options());
    assert_eq!(left(&next), Some(before));
}

#[test]
fn what_the_server_asked_of_all_calls_is_asked_still() {
    let mut sim = Sim::new(1);
    sim.start(one(Step::RetryAfter(429, 5_000.0)));
    let mut next = reloaded(&mut sim, 1_000.0, &options());
    let (call, _) = next.start(one(ok()));
    next.run();
    assert_eq!(next.traces[call].sent, [5_000.0]);
    // Not where there are no circuits, nor once it is over.
    for (at, options) in
        [(1_000.0, Policy { breaker: None, budget: None, ..options() }), (5_000.0, options())]
    {
        let mut next = reloaded(&mut sim, at, &options);
        let (call, _) = next.start(one(ok()));
        next.run();
        assert_eq!(next.traces[call].sent, [at]);
    }
}

#[test]
fn either_is_taken_up_without_the_other() {
    let mut sim = tripped();
    let alone = reloaded(&mut sim, 0.0, &Policy { budget: None, ..options() });
    assert_eq!(alone.circuit("a").unwrap().status, Status::Open(Instant::from_ms(1_000.0)));
    assert_eq!(left(&alone), None);

    let none = reloaded(&mut sim, 0.0, &Policy { budget: None, breaker: None, ..options() });
    assert_eq!(none.engine.find_circuit("a"), None);
    let budget = reloaded(&mut sim, 0.0, &Policy { breaker: None, ..options() });
    assert!(budget.engine.find_circuit("a").is_some());
}

#[test]
fn what_was_never_broken_is_not_kept() {
    let mut sim = Sim::new(1);
    sim.start(one(ok()).with(|p| p.budget = None));
    sim.run();
    assert_eq!(sim.engine.kept().count(), 0);
}

#[test]
fn nothing_keeps_a_circuit_open_longer_than_a_day() {
    let mut sim = Sim::new(1);
    let kept = Kept {
        key: "a",
        circuit: Some((Instant::from_ms(1e12), 3, None)),
        budget: None,
        parked: Some(Parked { until: Instant::from_ms(1e12), status: 429 }),
    };
    sim.by_hand(|engine, now| engine.restore(kept, &options(), now));
    let day = Instant::from_ms(86_400_000.0);
    assert_eq!(sim.circuit("a").unwrap().status, Status::Open(day));
    assert_eq!(sim.engine.circuits().next().unwrap().1.parked, Some(Parked { until: day, status: 429 }));
}
