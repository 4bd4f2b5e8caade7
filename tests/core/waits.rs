//! What a circuit, another call or the budget of the key does to a call, and where it meets the call's own wait.

use crate::sim::{Plan, Sim, Step, ok, plan, status};
use steadfetch::core::breaker::Status;
use steadfetch::core::call::{Carry, End, ExhaustedReason, Source, View};
use steadfetch::core::policy::{Breaker, Budget, Fleet, Jitter, OnCircuitOpen};
use steadfetch::core::time::{Instant, Span};

/// So many failures in a row open it for a second.
fn after(consecutive_failures: u32) -> Breaker {
    Breaker {
        consecutive_failures,
        half_open_after: Span::from_ms(1_000.0),
        max_open: Span::from_ms(1_000.0),
        minimum_calls: 1_000,
        ..Breaker::default()
    }
}

fn one(step: Step) -> Plan {
    plan(&[step]).with(|p| p.retry.limit = 0).behind("a", after(3))
}

/// Fails, and has another attempt after so many milliseconds.
fn retried(step: Step, delay: f64, on_circuit_open: OnCircuitOpen) -> Plan {
    plan(&[step, ok()]).with(|p| {
        p.retry.delay = Span::from_ms(delay);
        p.on_circuit_open = on_circuit_open;
    })
}

#[test]
fn a_call_whose_own_wait_ends_in_the_moment_of_its_turn_takes_it() {
    let mut sim = Sim::new(1);
    sim.start(retried(status(500), 1_000.0, OnCircuitOpen::Wait).behind("a", after(1)));
    sim.run();
    let trace = &sim.traces[0];
    assert_eq!(trace.sent, [0.0, 1_000.0]);
    assert!(matches!(
        trace.states[..],
        [(.., View::Loading { .. }), (.., View::Queued { .. }), (.., View::Loading { probe: true })]
    ));
}

/// A call that fails at 1,010 ms, while the probe of its circuit is out until 1,050 ms.
fn beside_a_probe(on_circuit_open: OnCircuitOpen) -> Sim {
    let mut sim = Sim::new(1);
    sim.start(retried(Step::Status(500, 1_010.0), 100.0, on_circuit_open).behind("a", after(3)));
    for _ in 0..3 {
        sim.start(one(status(500)));
    }
    sim.run_until(1_000.0);
    sim.start(one(Step::Status(200, 50.0)));
    sim.run_until(1_010.0);
    assert_eq!(sim.circuit("a").unwrap().status, Status::HalfOpen);
    sim
}

#[test]
fn a_probe_that_may_be_back_in_time_ends_no_call_that_would_not_wait_for_it() {
    let mut sim = beside_a_probe(OnCircuitOpen::Reject);
    assert!(matches!(sim.traces[0].states.last(), Some((1_010.0, 1, View::Waiting { .. }))));
    sim.run();
    assert_eq!(sim.traces[0].end, Some((1_110.0, End::Success, Carry::Response)));
}

#[test]
fn a_call_that_waits_for_its_circuit_waits_for_a_probe_too() {
    let sim = beside_a_probe(OnCircuitOpen::Wait);
    assert!(matches!(sim.traces[0].states.last(), Some((1_010.0, 1, View::Queued { .. }))));
}

/// A call with half a second in all opens its circuit for a whole one.
fn in_a_hurry(on_circuit_open: OnCircuitOpen) -> crate::sim::Trace {
    let mut sim = Sim::new(1);
    let hurried = retried(status(500), 100.0, on_circuit_open);
    sim.start(hurried.with(|p| p.total_timeout = Some(Span::from_ms(500.0))).behind("a", after(1)));
    sim.run();
    sim.traces.remove(0)
}

#[test]
fn a_call_that_has_no_time_to_wait_for_its_circuit_ends_with_its_last_response() {
    let trace = in_a_hurry(OnCircuitOpen::Wait);
    let end = End::Exhausted(ExhaustedReason::TotalTimeout, Some(Instant::from_ms(1_000.0)));
    assert_eq!((trace.end, trace.discarded), (Some((0.0, end, Carry::Response)), 0));
}

#[test]
fn a_call_that_would_not_wait_for_its_circuit_is_refused_by_it_whatever_time_it_has() {
    let trace = in_a_hurry(OnCircuitOpen::Reject);
    assert!(matches!(trace.end, Some((0.0, End::CircuitOpen(..), Carry::CircuitOpen))));
}

/// Calls that come after another was told to stay away for five seconds, which is as long as they would.
fn told_to_stay_away(jitter: Jitter) -> Sim {
    let mut sim = Sim::new(1);
    sim.start(one(Step::RetryAfter(429, 5_000.0)));
    sim.run_until(0.0);
    for _ in 0..100 {
        sim.start(one(ok()).with(|p| {
            p.retry.max_retry_after = Span::from_ms(5_000.0);
            p.retry.jitter = jitter;
        }));
    }
    sim.run();
    sim
}

#[test]
fn what_another_call_was_told_is_heeded_up_to_the_patience_of_each() {
    assert_eq!(told_to_stay_away(Jitter::None).traces[1].sent, [5_000.0]);
}

#[test]
fn with_jitter_what_another_call_was_told_is_stretched_by_at_most_a_tenth_and_never_cut() {
    let sim = told_to_stay_away(Jitter::Full);
    let calls = &sim.traces[1..];
    assert!(calls.iter().all(|call| (5_000.0..=5_500.0).contains(&call.sent[0]) && call.states.len() == 2));
    assert!(calls.iter().any(|call| call.sent[0] > 5_400.0));
}

/// Two calls whose wait ends in the moment in which their circuit closes.
fn as_it_closes() -> Sim {
    let mut sim = Sim::new(1);
    for _ in 0..2 {
        sim.start(retried(status(500), 1_000.0, OnCircuitOpen::Reject).behind("a", after(100)));
    }
    sim.run_until(0.0);
    sim.start(one(status(500)));
    sim.run_until(999.0);
    sim.now = 1_000.0;
    sim.start(one(ok()));
    sim.run();
    sim
}

#[test]
fn a_retry_whose_place_is_now_goes_without_another_wait() {
    let sim = as_it_closes();
    assert_eq!(sim.traces[0].sent, [0.0, 1_000.0]);
    assert_eq!(sim.traces[0].states.len(), 3);
}

#[test]
fn a_retry_is_told_when_its_place_comes() {
    let sim = as_it_closes();
    assert_eq!(sim.traces[1].sent, [0.0, 11_000.0]);
    let ten = Span::from_secs(10);
    let until = Instant::from_ms(11_000.0);
    let told = View::Waiting { until, remaining: ten, delay: ten, source: Source::Backoff, parked: None };
    assert_eq!(sim.traces[1].states[2], (1_000.0, 1, told));
}

#[test]
fn of_two_that_were_told_to_stay_away_the_longer_holds_the_others_back() {
    for told in [[2_000.0, 5_000.0], [5_000.0, 2_000.0]] {
        let mut sim = Sim::new(1);
        for ms in told {
            sim.start(one(Step::RetryAfter(429, ms)));
        }
        sim.run_until(0.0);
        let (other, _) = sim.start(one(ok()));
        sim.run();
        assert_eq!(sim.traces[other].sent, [5_000.0], "{told:?}");
    }
}

// ------------------------------------------------------------ the budget

/// How many thousandths of a token are left after a call of this run, which comes after one of the first.
fn left_after(run: u32, script: &[Step]) -> u64 {
    let mut sim = Sim::new(1);
    for (run, script) in [(1, [ok()].as_slice()), (run, script)] {
        let mut plan = Plan { circuit: Some("a"), run, ..plan(script) };
        plan.policy.budget = Some(Budget { fleet: Fleet::Large, ..Budget::default() });
        sim.start(plan);
        sim.run();
    }
    let (left, _) = sim.engine.kept().find_map(|kept| kept.budget).unwrap();
    left
}

#[test]
fn a_success_pays_into_the_budget_if_it_is_the_first_attempt_and_no_click() {
    let policy = Budget::default();
    let before = policy.bound() + policy.ratio;
    assert_eq!(left_after(1, &[ok()]), before + policy.ratio);
    assert_eq!(left_after(2, &[ok()]), before, "a click");
    assert_eq!(left_after(1, &[status(503), ok()]), before - Budget::TOKEN, "a second attempt");
}
