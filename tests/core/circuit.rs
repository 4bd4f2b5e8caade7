//! Circuits and the calls behind them, in virtual time.

use crate::sim::{Plan, Sim, Step, ok, plan, status};
use steadfetch::core::breaker::{Reason, Status};
use steadfetch::core::call::{Carry, End, ExhaustedReason, Input, Source, View};
use steadfetch::core::classify::Traits;
use steadfetch::core::connectivity::Page;
use steadfetch::core::policy::{self, Jitter, OnCircuitOpen, Retry};
use steadfetch::core::time::{Instant, Span};

/// Three failures in a row open it for a second, always; one probe, one success.
fn b0() -> policy::Breaker {
    policy::Breaker {
        consecutive_failures: 3,
        half_open_after: Span::from_ms(1_000.0),
        max_open: Span::from_ms(1_000.0),
        ..policy::Breaker::default()
    }
}

/// One attempt behind the circuit "a".
fn one(step: Step) -> Plan {
    plan(&[step]).with(|p| p.retry.limit = 0).behind("a", b0())
}

fn tripped() -> Sim {
    let mut sim = Sim::new(1);
    for _ in 0..3 {
        sim.start(one(status(500)));
        sim.run_until(0.0);
    }
    assert_eq!(sim.circuits, [(0.0, Status::Open(Instant::from_ms(1_000.0)))]);
    sim
}

fn refused(sim: &Sim, call: usize) -> bool {
    matches!(sim.traces[call].end, Some((_, End::CircuitOpen(..), Carry::CircuitOpen)))
        && sim.traces[call].sent.is_empty()
}

fn succeeded(sim: &Sim, call: usize) -> bool {
    matches!(sim.traces[call].end, Some((_, End::Success, _)))
}

fn statuses(sim: &Sim) -> Vec<(f64, &'static str)> {
    let name = |status: &Status| match status {
        Status::Closed => "closed",
        Status::Open(_) => "open",
        Status::HalfOpen => "half-open",
        Status::Isolated => "isolated",
    };
    sim.circuits.iter().map(|(at, status)| (*at, name(status))).collect()
}

#[test]
fn profile_b_opens_after_five_failures_for_exactly_thirty_seconds() {
    let breaker = policy::Breaker { max_open: Span::from_ms(30_000.0), ..policy::Breaker::default() };
    for seed in 0..100 {
        let mut sim = Sim::new(seed);
        let full = |p: &mut policy::Policy| p.retry = Retry { jitter: Jitter::Full, ..Retry::default() };
        sim.start(plan(&[status(503)]).with(full).behind("a", breaker));
        sim.run();
        let sent = sim.traces[0].sent.clone();
        assert_eq!(sent.len(), 5);
        for (retry, pair) in (0..).zip(sent.windows(2)) {
            assert!((0.0..=250.0 * f64::from(1 << retry)).contains(&(pair[1] - pair[0])));
        }
        let opened = sent[4];
        let limit = End::Exhausted(ExhaustedReason::Limit, None);
        assert_eq!(
            sim.traces[0].end,
            Some((opened, limit, Carry::Response)),
            "its own circuit does not change its end"
        );
        assert_eq!(sim.circuits.len(), 1);
        // Refused for 30 s, then one probe, and open again for 30 s to the millisecond.
        sim.run_until(opened + 29_999.0);
        sim.start(plan(&[ok()]).with(full).behind("a", breaker));
        sim.run_until(opened + 30_000.0);
        assert!(refused(&sim, 1));
        sim.start(plan(&[status(503)]).with(|p| p.retry.limit = 0).behind("a", breaker));
        sim.run_until(opened + 30_000.0);
        assert_eq!(sim.traces[2].sent.len(), 1);
        assert_eq!(sim.circuit("a").unwrap().status, Status::Open(Instant::from_ms(opened + 60_000.0)));
    }
}

#[test]
fn a_half_open_circuit_lets_one_probe_through_and_refuses_the_flood() {
    let mut sim = tripped();
    sim.run_until(1_000.0);
    for _ in 0..50 {
        sim.start(one(Step::Status(500, 20.0)));
    }
    sim.run_until(1_019.0);
    assert_eq!(sim.traces[3..].iter().filter(|trace| !trace.sent.is_empty()).count(), 1);
    assert_eq!((4..53).filter(|&call| refused(&sim, call)).count(), 49);
    sim.run_until(2_020.0);
    let (call, _) = sim.start(one(ok()));
    sim.run_until(2_020.0);
    assert!(succeeded(&sim, call));
    assert_eq!(
        statuses(&sim),
        [
            (0.0, "open"),
            (1_000.0, "half-open"),
            (1_020.0, "open"),
            (2_020.0, "half-open"),
            (2_020.0, "closed")
        ]
    );
}

#[test]
fn what_comes_back_late_changes_nothing() {
    // Begun before the circuit opened, back while it is open, and while the probe is out.
    for late in [500.0, 1_015.0] {
        let mut sim = Sim::new(1);
        let (slow, _) = sim.start(one(Step::Status(200, late)));
        for _ in 0..3 {
            sim.start(one(status(500)));
        }
        sim.run_until(1_010.0);
        sim.start(one(Step::Status(200, 100.0)));
        sim.run_until(1_050.0);
        assert!(succeeded(&sim, slow), "its caller has the response");
        assert_eq!(statuses(&sim).last(), Some(&(1_010.0, "half-open")));
        sim.run_until(1_110.0);
        assert_eq!(statuses(&sim).last(), Some(&(1_110.0, "closed")));
    }
}

#[test]
fn failures_after_the_one_that_opened_it_neither_extend_nor_repeat() {
    let mut sim = Sim::new(1);
    for _ in 0..6 {
        sim.start(one(Step::Status(500, 10.0)));
    }
    sim.run_until(500.0);
    assert_eq!(sim.circuits, [(10.0, Status::Open(Instant::from_ms(1_010.0)))]);
}

#[test]
fn cancelled_calls_neither_open_nor_close_it() {
    let mut sim = Sim::new(1);
    let cancel = |sim: &mut Sim| {
        let (_, slot) = sim.start(one(Step::Stall));
        sim.input(slot, Input::Cancel);
    };
    for _ in 0..100 {
        cancel(&mut sim);
    }
    for _ in 0..2 {
        sim.start(one(status(500)));
        sim.run_until(0.0);
    }
    cancel(&mut sim);
    assert_eq!(sim.circuits, []);
    sim.start(one(status(500)));
    sim.run_until(0.0);
    assert_eq!(sim.circuits.len(), 1);
}

#[test]
fn a_cancelled_probe_gives_its_permit_back() {
    let mut sim = tripped();
    sim.run_until(1_000.0);
    for _ in 0..10 {
        let (call, slot) = sim.start(one(Step::Stall));
        assert_eq!(sim.traces[call].sent.len(), 1);
        sim.input(slot, Input::Cancel);
    }
    let (call, _) = sim.start(one(ok()));
    sim.run_until(1_000.0);
    assert!(succeeded(&sim, call));
    assert_eq!(sim.circuit("a").unwrap().status, Status::Closed);
}

#[test]
fn a_probe_that_never_settles_is_given_up_after_its_lease() {
    let lease = policy::Breaker { probe_lease: Some(Span::from_ms(500.0)), ..b0() };
    let mut sim = tripped();
    sim.run_until(1_000.0);
    sim.start(one(Step::Stall).behind("a", lease));
    sim.run_until(1_499.0);
    let (early, _) = sim.start(one(ok()));
    assert!(refused(&sim, early));
    sim.run_until(1_600.0);
    let (late, _) = sim.start(one(ok()));
    assert!(refused(&sim, late));
    assert_eq!(sim.circuit("a").unwrap().reason, Some(Reason::ProbeFailed));
    sim.run_until(2_600.0);
    let (probe, _) = sim.start(one(ok()));
    sim.run_until(2_600.0);
    assert!(succeeded(&sim, probe));
}

#[test]
fn too_many_requests_count_for_the_rate_and_fail_a_probe_but_not_for_the_run() {
    let mut sim = Sim::new(1);
    for _ in 0..9 {
        sim.start(one(status(429)));
        sim.run_until(0.0);
    }
    assert_eq!(sim.circuits, []);
    assert_eq!(sim.circuit("a").unwrap().failure_rate, 1.0);
    sim.start(one(status(429)));
    sim.run_until(0.0);
    assert_eq!(sim.circuit("a").unwrap().reason, Some(Reason::FailureRate));

    let mut sim = tripped();
    sim.run_until(1_000.0);
    sim.start(one(status(429)));
    sim.run_until(1_000.0);
    assert_eq!(sim.circuit("a").unwrap().reason, Some(Reason::ProbeFailed));
}

#[test]
fn any_other_answer_is_a_success_for_the_circuit() {
    for answer in [404, 401, 304, 200] {
        let mut sim = tripped();
        sim.run_until(1_000.0);
        sim.start(one(status(answer)));
        sim.run_until(1_000.0);
        assert_eq!(sim.circuit("a").unwrap().status, Status::Closed, "{answer}");
    }
}

#[test]
fn nothing_counts_while_the_browser_is_offline() {
    let mut sim = Sim::new(1);
    for _ in 0..20 {
        sim.start(one(Step::Drop(10.0)));
    }
    sim.set_page(steadfetch::core::connectivity::Page { online: false, visible: true });
    sim.run_until(20.0);
    assert_eq!(sim.circuits, []);
    assert_eq!(sim.circuit("a").unwrap().calls, 0);
}

#[test]
fn after_closing_the_count_begins_anew() {
    let mut sim = tripped();
    sim.run_until(1_000.0);
    sim.start(one(ok()));
    sim.run_until(1_000.0);
    for _ in 0..2 {
        sim.start(one(status(500)));
        sim.run_until(1_000.0);
    }
    assert_eq!(sim.circuit("a").unwrap().status, Status::Closed);
    sim.start(one(status(500)));
    sim.run_until(1_000.0);
    assert!(matches!(sim.circuit("a").unwrap().status, Status::Open(_)));
}

#[test]
fn the_open_time_grows_with_each_failed_probe_and_never_shrinks_below_the_last_step() {
    let growing = policy::Breaker { max_open: Span::from_ms(5_000.0), ..b0() };
    let mut all = Vec::new();
    for seed in 0..50 {
        let mut sim = Sim::new(seed);
        for _ in 0..3 {
            sim.start(one(status(500)).behind("a", growing));
            sim.run_until(0.0);
        }
        let mut lengths = Vec::new();
        for _ in 0..6 {
            let Status::Open(until) = sim.circuit("a").unwrap().status else { panic!("it is not open") };
            lengths.push((until - Instant::from_ms(sim.now)).as_ms());
            sim.run_until((until - Instant::default()).as_ms());
            sim.start(one(status(500)).behind("a", growing));
            sim.run_until(sim.now);
        }
        assert_eq!(lengths[0], 1_000.0, "the first is exact");
        for (length, (low, high)) in lengths.iter().skip(1).zip([
            (1_000.0, 2_000.0),
            (2_000.0, 4_000.0),
            (4_000.0, 5_000.0),
            (4_000.0, 5_000.0),
        ]) {
            assert!((low..=high).contains(length), "{lengths:?}");
        }
        all.push(lengths[1]);
    }
    all.sort_by(f64::total_cmp);
    assert!(all[0] < 1_200.0 && all[25] > 1_200.0 && all[25] < 1_800.0 && all[49] > 1_800.0, "{all:?}");
}

#[test]
fn a_retry_after_keeps_it_open_at_least_as_long() {
    // The time that it has of itself is not the server's.
    for (asked, reason) in [(7_000.0, Reason::RetryAfter), (1_000.0, Reason::Consecutive)] {
        let mut sim = Sim::new(1);
        for _ in 0..3 {
            sim.start(one(Step::RetryAfter(503, asked)));
        }
        sim.run_until(0.0);
        let view = sim.circuit("a").unwrap();
        assert_eq!((view.status, view.reason), (Status::Open(Instant::from_ms(asked)), Some(reason)));
    }
}

#[test]
fn a_circuit_that_opens_during_a_calls_own_retries_ends_it_as_circuit_open() {
    let mut sim = Sim::new(1);
    let (call, _) = sim.start(plan(&[status(500)]).with(|p| p.retry.limit = 9).behind("a", b0()));
    sim.run();
    let trace = &sim.traces[call];
    assert_eq!(trace.sent.len(), 3);
    assert!(matches!(trace.end, Some((at, End::CircuitOpen(..), Carry::CircuitOpen)) if at == trace.sent[2]));
    assert_eq!(trace.discarded, 3);
}

fn waiting(step: Step) -> Plan {
    one(step).with(|p| p.on_circuit_open = OnCircuitOpen::Wait)
}

#[test]
fn calls_that_wait_go_in_order_once_a_probe_has_closed_it() {
    let mut sim = tripped();
    for _ in 0..5 {
        sim.start(waiting(Step::Status(200, 50.0)));
    }
    sim.run_until(999.0);
    for call in 3..8 {
        assert!(matches!(sim.traces[call].states[..], [(0.0, 0, View::Queued { .. })]));
    }
    sim.run();
    let sent: Vec<f64> = sim.traces[3..].iter().map(|trace| trace.sent[0]).collect();
    // The probe, then one at once, and the other three by their share of ten seconds.
    assert_eq!(sent, [1_000.0, 1_050.0, 6_050.0, 8_550.0, 11_050.0]);
    // Told that a probe is out, and for how long it is refused.
    assert!(matches!(sim.traces[4].states[1], (1_000.0, 0, View::Queued { refusal, .. })
        if refusal.retry_at.is_none() && refusal.probe_in_flight));
    assert_eq!(sim.engine.next_timeout(), None);
}

#[test]
fn a_call_cancelled_in_the_moment_of_its_turn_is_not_sent() {
    let mut sim = tripped();
    let (call, slot) = sim.start(waiting(ok()));
    // Before any timer has fired.
    sim.now = 1_000.0;
    assert!(sim.input(slot, Input::Cancel));
    assert_eq!(sim.traces[call].sent, []);
    assert_eq!(sim.traces[call].end, Some((1_000.0, End::Cancelled, Carry::Reason)));
}

#[test]
fn calls_that_drop_out_in_the_moment_of_their_turn_leave_it_to_those_who_stay() {
    let mut sim = tripped();
    let (first, slot) = sim.start(waiting(ok()));
    let (second, next) = sim.start(waiting(ok()));
    let (third, _) = sim.start(waiting(ok()));
    // Before any timer has fired.
    sim.now = 1_000.0;
    for slot in [slot, next] {
        sim.by_hand(|engine, now| engine.drop_out(slot, now));
    }
    sim.run_until(1_000.0);
    assert_eq!(sim.traces[first].sent, []);
    assert_eq!(sim.traces[second].sent, []);
    assert_eq!(sim.traces[third].sent, [1_000.0]);
}

#[test]
fn a_new_call_does_not_overtake_those_that_wait() {
    let mut sim = tripped();
    let (first, _) = sim.start(waiting(Step::Status(200, 10.0)));
    // At the very moment, before any timer has fired.
    sim.now = 1_000.0;
    let (second, _) = sim.start(waiting(Step::Status(200, 10.0)));
    assert_eq!(sim.traces[first].sent, [1_000.0]);
    assert_eq!(sim.traces[second].sent, []);
}

#[test]
fn a_failed_probe_keeps_the_others_waiting_and_a_cancelled_one_passes_its_turn_on() {
    let mut sim = tripped();
    sim.start(waiting(Step::Status(500, 10.0)));
    let (_, slot) = sim.start(waiting(Step::Stall));
    let (third, _) = sim.start(waiting(ok()));
    sim.run_until(2_010.0);
    assert_eq!(sim.traces[4].sent, [2_010.0]);
    sim.run_until(2_500.0);
    sim.input(slot, Input::Cancel);
    sim.run_until(2_500.0);
    assert_eq!(sim.traces[third].sent, [2_500.0]);
    assert!(succeeded(&sim, third));
}

#[test]
fn a_click_makes_the_probe_at_once_but_not_a_second_one() {
    let mut sim = tripped();
    let (first, a) = sim.start(waiting(Step::Status(200, 50.0)));
    let (_, b) = sim.start(waiting(ok()));
    sim.run_until(100.0);
    assert!(sim.input(a, Input::RetryNow));
    assert_eq!(sim.traces[first].sent, [100.0]);
    assert!(!sim.input(b, Input::RetryNow), "a probe is out");
    sim.run();
    assert!(succeeded(&sim, 3) && succeeded(&sim, 4));
}

#[test]
fn try_again_after_exhaustion_is_not_refused_by_the_circuit_it_opened() {
    let mut sim = Sim::new(1);
    sim.start(plan(&[status(500)]).with(|p| p.retry.limit = 2).behind("a", b0()));
    sim.run();
    let mut again = one(ok());
    again.run = 2;
    let (call, _) = sim.start(again);
    sim.run();
    assert!(succeeded(&sim, call));
}

#[test]
fn isolation_holds_against_clicks_until_the_last_hand_lets_go() {
    let mut sim = Sim::new(1);
    sim.start(one(ok()));
    sim.run_until(0.0);
    let id = sim.engine.find_circuit("a").unwrap();
    sim.by_hand(|engine, now| engine.isolate(id, now));
    sim.by_hand(|engine, now| engine.isolate(id, now));
    sim.by_hand(|engine, now| engine.reset(id, now));
    let mut click = one(ok());
    click.run = 2;
    let (call, _) = sim.start(click);
    assert!(refused(&sim, call));
    sim.by_hand(|engine, now| engine.let_go(id, now));
    let (waits, _) = sim.start(waiting(ok()));
    sim.run_until(100_000.0);
    assert_eq!(sim.traces[waits].sent, []);
    sim.by_hand(|engine, now| engine.let_go(id, now));
    sim.run();
    assert_eq!(sim.traces[waits].sent, [100_000.0]);
}

#[test]
fn reset_closes_it_and_lets_those_who_wait_go() {
    let mut sim = tripped();
    let (call, _) = sim.start(waiting(ok()));
    sim.run_until(10.0);
    let id = sim.engine.find_circuit("a").unwrap();
    sim.by_hand(|engine, now| engine.reset(id, now));
    sim.run();
    assert_eq!(sim.traces[call].sent, [10.0]);
}

#[test]
fn several_probes_are_never_more_than_permitted_and_all_must_succeed() {
    let three = policy::Breaker { half_open_probes: 3, half_open_successes: 3, ..b0() };
    let mut sim = tripped();
    sim.run_until(1_000.0);
    for _ in 0..10 {
        sim.start(one(Step::Status(200, 10.0)).behind("a", three));
    }
    assert_eq!(sim.traces[3..].iter().filter(|trace| !trace.sent.is_empty()).count(), 3);
    sim.run_until(1_010.0);
    assert_eq!(sim.circuit("a").unwrap().status, Status::Closed);
}

#[test]
fn one_probe_after_the_other_where_several_must_succeed() {
    let two = policy::Breaker { half_open_successes: 2, ..b0() };
    let mut sim = tripped();
    sim.run_until(1_000.0);
    for at in [1_000.0, 1_010.0] {
        let (call, _) = sim.start(one(Step::Status(200, 10.0)).behind("a", two));
        sim.run_until(at + 10.0);
        assert_eq!(sim.traces[call].sent, [at]);
    }
    assert_eq!(statuses(&sim), [(0.0, "open"), (1_000.0, "half-open"), (1_020.0, "closed")]);
}

#[test]
fn the_window_slides_in_tenths_and_the_rate_needs_its_minimum() {
    let rate =
        policy::Breaker { consecutive_failures: 0, window: Span::from_ms(1_000.0), minimum_calls: 4, ..b0() };
    let call = |sim: &mut Sim, at: f64, step| {
        sim.run_until(at);
        sim.start(one(step).behind("a", rate));
        sim.run_until(at);
    };
    let mut sim = Sim::new(1);
    for at in [0.0, 10.0, 20.0] {
        call(&mut sim, at, status(500));
    }
    call(&mut sim, 1_000.0, status(500));
    assert_eq!((sim.circuit("a").unwrap().calls, sim.circuits.len()), (1, 0), "the first bucket has gone");
    for at in [1_010.0, 1_020.0] {
        call(&mut sim, at, ok());
    }
    assert_eq!(sim.circuits.len(), 0);
    call(&mut sim, 1_030.0, status(500));
    assert_eq!(sim.circuit("a").unwrap().reason, Some(Reason::FailureRate), "two of four");
}

#[test]
fn slow_answers_open_it_by_their_share() {
    let slow = policy::Breaker {
        slow_call_duration: Some(Span::from_ms(100.0)),
        slow_call_rate: 0.5,
        minimum_calls: 4,
        ..b0()
    };
    let mut sim = Sim::new(1);
    for after in [100.0, 101.0, 50.0, 300.0] {
        sim.start(one(Step::Status(200, after)).behind("a", slow));
    }
    sim.run_until(300.0);
    assert_eq!(sim.circuit("a").unwrap().reason, Some(Reason::SlowRate));
}

#[test]
fn a_retry_after_holds_the_other_calls_of_the_key_back_but_not_a_click() {
    let patient = |step| one(step).with(|p| p.retry.max_retry_after = Span::from_ms(60_000.0));
    let mut sim = Sim::new(1);
    sim.start(patient(Step::RetryAfter(429, 5_000.0)));
    sim.run_until(1_000.0);
    let (other, _) = sim.start(patient(ok()));
    let (elsewhere, _) = sim.start(plan(&[ok()]).behind("b", b0()));
    let (_, clicked) = sim.start(patient(ok()));
    assert!(matches!(
        sim.traces[other].states[..],
        [(1_000.0, 0, View::Waiting { source: Source::RetryAfter, parked: Some(429), .. })]
    ));
    assert!(sim.input(clicked, Input::RetryNow));
    sim.run();
    assert_eq!(sim.traces[other].sent, [5_000.0]);
    assert_eq!(sim.traces[elsewhere].sent, [1_000.0]);
    assert_eq!(sim.traces[3].sent, [1_000.0]);
}

#[test]
fn a_retry_after_that_is_too_long_for_a_call_ends_it_unsent() {
    let mut sim = Sim::new(1);
    // Beyond the patience of the call that got it, which does not make it less of a wish.
    sim.start(one(Step::RetryAfter(429, 61_000.0)));
    sim.run_until(0.0);
    let (other, _) = sim.start(one(ok()));
    let (short, _) = sim.start(one(ok()).with(|p| {
        p.retry.max_retry_after = Span::MAX;
        p.total_timeout = Some(Span::from_ms(9_000.0));
    }));
    let (patient, clicked) = sim.start(one(ok()).with(|p| p.retry.max_retry_after = Span::MAX));
    let end = End::Exhausted(ExhaustedReason::RetryAfterTooLong, Some(Instant::from_ms(61_000.0)));
    for call in [other, short] {
        assert_eq!(sim.traces[call].end, Some((0.0, end, Carry::Parked)));
        assert_eq!(sim.traces[call].sent, []);
    }
    assert!(sim.input(clicked, Input::RetryNow), "a click goes all the same");
    sim.run_until(1.0);
    assert!(succeeded(&sim, patient));
    sim.by_hand(|engine, now| {
        let id = engine.find_circuit("a").unwrap();
        engine.reset(id, now);
    });
    let (after, _) = sim.start(one(ok()));
    sim.run_until(2.0);
    assert!(succeeded(&sim, after), "and so does everyone once a person has reset the circuit");
}

#[test]
fn an_open_circuit_refuses_those_that_the_server_wants_to_wait() {
    let mut sim = Sim::new(1);
    for _ in 0..3 {
        sim.start(one(Step::RetryAfter(503, 500.0)));
    }
    sim.run_until(0.0);
    let (call, _) = sim.start(one(ok()));
    assert!(refused(&sim, call));
    let (patient, _) = sim.start(waiting(ok()));
    assert!(matches!(sim.traces[patient].states[..], [(0.0, 0, View::Queued { .. })]));
    sim.run();
    assert_eq!(sim.traces[patient].sent, [1_000.0]);
}

#[test]
fn circuits_are_apart_by_key() {
    let mut sim = tripped();
    let (call, _) = sim.start(plan(&[ok()]).behind("b", b0()));
    sim.run_until(0.0);
    assert!(succeeded(&sim, call));
}

#[test]
fn a_circuit_has_a_timer_only_while_someone_looks_or_waits() {
    let mut sim = tripped();
    assert_eq!(sim.engine.next_timeout(), None);
    sim.engine.set_observed(true);
    sim.run_until(1_500.0);
    assert_eq!(statuses(&sim), [(0.0, "open"), (1_000.0, "half-open")], "it changes on time, without a call");
    assert_eq!(sim.engine.next_timeout(), None);
}

#[test]
fn a_circuit_whose_time_is_over_is_shown_half_open_though_nobody_looked_meanwhile() {
    let mut sim = tripped();
    sim.run_until(1_500.0);
    assert_eq!(statuses(&sim), [(0.0, "open")]);
    assert_eq!(sim.circuit("a").unwrap().status, Status::HalfOpen);
}

#[test]
fn a_circuit_that_is_held_by_hand_has_no_timer() {
    let mut sim = tripped();
    sim.engine.set_observed(true);
    assert!(sim.engine.next_timeout().is_some());
    let id = sim.engine.find_circuit("a").unwrap();
    sim.by_hand(|engine, now| engine.isolate(id, now));
    assert_eq!(sim.engine.next_timeout(), None);
}

#[test]
fn reset_of_a_closed_circuit_forgets_what_was_counted_and_not_what_is_under_way() {
    let mut sim = Sim::new(1);
    for _ in 0..2 {
        sim.start(one(status(500)));
    }
    for _ in 0..2 {
        sim.start(one(Step::Status(500, 100.0)));
    }
    sim.run_until(50.0);
    let id = sim.engine.find_circuit("a").unwrap();
    sim.by_hand(|engine, now| engine.reset(id, now));
    sim.run_until(100.0);
    assert_eq!(sim.circuits, [], "it was closed and is");
    assert_eq!(sim.circuit("a").unwrap().consecutive_failures, 2);
    sim.start(one(status(500)));
    sim.run_until(100.0);
    assert_eq!(statuses(&sim), [(100.0, "open")]);
}

#[test]
fn a_call_without_a_circuit_passes_where_it_shares_the_key_for_its_budget() {
    let mut sim = tripped();
    let (call, _) = sim.start(Plan { circuit: Some("a"), ..plan(&[status(503), ok()]) });
    sim.run_until(900.0);
    assert_eq!(sim.traces[call].sent, [0.0, 250.0]);
    assert_eq!(statuses(&sim), [(0.0, "open")]);

    // Nor is it held back by what the server asked of those that pass the circuit.
    let mut sim = Sim::new(1);
    sim.start(one(Step::RetryAfter(429, 5_000.0)));
    sim.run_until(0.0);
    let (call, _) = sim.start(Plan { circuit: Some("a"), ..plan(&[ok()]) });
    sim.run_until(0.0);
    assert_eq!(sim.traces[call].sent, [0.0]);
}

#[test]
fn a_call_in_the_queue_counts_down_while_someone_looks() {
    let breaker = policy::Breaker { half_open_after: Span::from_ms(3_200.0), ..b0() };
    let mut sim = Sim::new(1);
    for _ in 0..3 {
        sim.start(one(status(500)).behind("a", breaker));
    }
    sim.run_until(0.0);
    let (call, slot) = sim.start(waiting(ok()).behind("a", breaker));
    sim.input(slot, Input::Watch(true));
    sim.run();
    let shown = sim.traces[call].states.iter().filter_map(|(_, _, view)| match view {
        View::Queued { remaining, .. } => Some(remaining.as_ms()),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), [3_200.0, 3_000.0, 2_000.0, 1_000.0]);
}

#[test]
fn a_probe_that_its_total_limit_ends_passes_its_turn_on() {
    let mut sim = tripped();
    sim.run_until(1_000.0);
    sim.start(one(Step::Stall).with(|p| p.total_timeout = Some(Span::from_ms(500.0))));
    let (next, _) = sim.start(waiting(ok()));
    sim.run();
    assert_eq!(sim.traces[next].sent, [1_500.0]);
}

#[test]
fn a_circuit_that_is_looked_at_counts_down_in_whole_seconds() {
    let mut sim = Sim::new(1);
    sim.engine.set_observed(true);
    let breaker = policy::Breaker { half_open_after: Span::from_ms(2_500.0), ..b0() };
    for _ in 0..3 {
        sim.start(one(status(500)).behind("a", breaker));
    }
    sim.run_until(0.0);
    for at in [500.0, 1_500.0, 2_500.0] {
        assert_eq!(sim.engine.next_timeout(), Some(Instant::from_ms(at)));
        sim.run_until(at);
    }
}

#[test]
fn only_what_is_looked_at_or_waits_needs_the_page() {
    let mut sim = tripped();
    assert!(!sim.engine.needs_page());
    let (_, slot) = sim.start(plan(&[Step::Stall]));
    assert!(!sim.engine.needs_page(), "what is under way ends by itself");
    sim.input(slot, Input::Cancel);
    sim.engine.set_observed(true);
    assert!(sim.engine.needs_page());
}

#[test]
fn circuits_are_those_of_calls_that_pass_them() {
    let mut sim = tripped();
    sim.start(Plan { circuit: Some("budget alone"), ..plan(&[ok()]) });
    let ids = |sim: &Sim| sim.engine.circuits().map(|(id, _)| id).collect::<Vec<_>>();
    let [a, alone] = ["a", "budget alone"].map(|key| sim.engine.find_circuit(key).unwrap());
    assert_eq!(ids(&sim), [a]);
    sim.start(plan(&[ok()]).behind("budget alone", b0()));
    assert_eq!(ids(&sim), [a, alone]);
}

#[test]
fn all_circuits_are_looked_at() {
    let mut sim = tripped();
    for _ in 0..3 {
        sim.start(one(status(500)).behind("b", b0()));
        sim.run_until(0.0);
    }
    sim.engine.set_observed(true);
    sim.run_until(1_000.0);
    assert_eq!(
        statuses(&sim),
        [(0.0, "open"), (0.0, "open"), (1_000.0, "half-open"), (1_000.0, "half-open")]
    );
}

#[test]
fn what_is_left_of_an_open_circuit_is_shown_in_whole_seconds() {
    let mut sim = Sim::new(1);
    for _ in 0..3 {
        sim.start(
            one(status(500)).behind("a", policy::Breaker { half_open_after: Span::from_ms(2_500.0), ..b0() }),
        );
    }
    for (at, left) in [(0.0, 3_000.0), (499.0, 3_000.0), (500.0, 2_000.0), (2_499.0, 1_000.0)] {
        sim.run_until(at);
        let status = sim.circuit("a").unwrap().status;
        sim.by_hand(|engine, now| engine.wake(now));
        assert_eq!(sim.engine.open_for(status), Span::from_ms(left), "at {at}");
    }
    for status in [Status::Closed, Status::HalfOpen, Status::Isolated] {
        assert_eq!(sim.engine.open_for(status), Span::ZERO);
    }
}

// ------------------------------------------------------------ after it has closed

/// Calls that wait at a circuit that the first of them closes as its probe at 1,050 ms.
fn recovering(queue: usize) -> Sim {
    let mut sim = tripped();
    for _ in 0..=queue {
        sim.start(waiting(Step::Status(200, 50.0)));
    }
    sim
}

fn gone_by(sim: &Sim, from: usize, at: f64) -> usize {
    sim.traces[from..].iter().filter(|trace| trace.sent.iter().any(|&sent| sent <= at)).count()
}

#[test]
fn a_queue_is_let_go_by_a_tenth_at_once_and_in_ten_seconds_as_a_whole() {
    let mut sim = recovering(200);
    sim.run();
    for (after, gone) in
        [(0.0, 20), (1_000.0, 20), (2_000.0, 40), (5_000.0, 100), (9_999.0, 199), (10_000.0, 200)]
    {
        assert_eq!(gone_by(&sim, 4, 1_050.0 + after), gone, "{after} ms after it has closed");
    }
    let order: Vec<f64> = sim.traces[4..].iter().map(|trace| trace.sent[0]).collect();
    assert!(order.is_sorted());
}

#[test]
fn those_in_the_queue_are_told_when_their_turn_comes() {
    let mut sim = recovering(10);
    sim.run_until(1_050.0);
    let last = sim.traces.last().unwrap().states.last().unwrap();
    assert!(matches!(last, (1_050.0, 0, View::Queued { refusal, remaining })
        if refusal.retry_at == Some(Instant::from_ms(11_050.0)) && *remaining == Span::from_ms(10_000.0)));
}

#[test]
fn fresh_calls_pass_while_others_are_let_go() {
    let mut sim = recovering(100);
    sim.run_until(2_000.0);
    let (fresh, _) = sim.start(one(ok()));
    let (patient, _) = sim.start(waiting(ok()));
    sim.run();
    assert_eq!(sim.traces[fresh].sent, [2_000.0]);
    assert_eq!(sim.traces[patient].sent, [2_000.0]);
}

#[test]
fn retries_share_the_way_with_the_queue() {
    let mut sim = Sim::new(1);
    // Ten calls that wait for a second attempt when the circuit is opened and closed by others.
    for _ in 0..10 {
        let retried = plan(&[status(500), ok()]).with(|p| p.retry.delay = Span::from_ms(1_500.0));
        sim.start(
            retried.behind("a", policy::Breaker { consecutive_failures: 100, minimum_calls: 1_000, ..b0() }),
        );
    }
    sim.run_until(0.0);
    for _ in 0..100 {
        sim.start(one(status(500)));
    }
    sim.run_until(0.0);
    sim.start(waiting(ok()));
    for _ in 0..10 {
        sim.start(waiting(ok()));
    }
    sim.run();
    // 20 wait: two at once, then one in each half second; those of the queue first.
    let retried: Vec<f64> = sim.traces[..10].iter().map(|trace| trace.sent[1]).collect();
    let expected: Vec<f64> = (11..=20).map(|i| 1_000.0 + 500.0 * f64::from(i)).collect();
    assert_eq!(retried, expected);
}

#[test]
fn a_circuit_that_opens_again_lets_nobody_go() {
    let mut sim = recovering(20);
    sim.run_until(1_100.0);
    let gone = |sim: &Sim| sim.traces[4..24].iter().filter(|trace| !trace.sent.is_empty()).count();
    let before = gone(&sim);
    for _ in 0..3 {
        sim.start(one(status(500)));
    }
    sim.run_until(1_999.0);
    assert_eq!((before, gone(&sim)), (2, 2));
}

#[test]
fn a_click_goes_before_its_turn() {
    let mut sim = recovering(20);
    sim.run_until(1_100.0);
    let last = sim.traces.len() - 1;
    assert!(sim.input(last as u32 - 3, Input::RetryNow));
    assert_eq!(sim.traces[last].sent, [1_100.0]);
}

// ------------------------------------------------------------ the budget

fn budgeted(script: &[Step]) -> Plan {
    let mut plan = plan(script);
    plan.circuit = Some("a");
    plan.policy.budget = Some(policy::Budget::default());
    plan
}

#[test]
fn one_bucket_holds_for_all_calls_of_a_key_and_only_for_them() {
    let mut sim = Sim::new(1);
    let calls: Vec<usize> = (0..10).map(|_| sim.start(budgeted(&[status(503)])).0).collect();
    let (other, _) = sim.start(Plan { circuit: Some("b"), ..budgeted(&[status(503)]) });
    sim.run_until(10.0);
    // The fifth failure leaves no more than half of the ten tokens.
    let ends: Vec<bool> = calls.iter().map(|&call| sim.traces[call].end.is_some()).collect();
    assert_eq!(ends, [false, false, false, false, true, true, true, true, true, true]);
    let end = sim.traces[calls[4]].end.unwrap();
    assert!(matches!(end, (0.0, End::Exhausted(ExhaustedReason::Budget, None), Carry::Response)));
    sim.run();
    assert_eq!(sim.traces[other].sent.len(), 5);
}

#[test]
fn a_lone_call_makes_all_its_retries_and_ends_by_the_limit() {
    let mut sim = Sim::new(1);
    sim.start(budgeted(&[status(503)]));
    sim.run();
    assert_eq!(sim.traces[0].sent.len(), 5);
    assert!(matches!(sim.traces[0].end, Some((_, End::Exhausted(ExhaustedReason::Limit, None), _))));
}

#[test]
fn what_cannot_be_retried_and_what_fails_offline_costs_nothing() {
    let mut sim = Sim::new(1);
    let post = Traits { listed: false, keyed: false, replayable: true };
    for _ in 0..20 {
        sim.start(budgeted(&[status(404)]));
        sim.start(Plan { traits: post, ..budgeted(&[status(503)]) });
        let (_, slot) = sim.start(budgeted(&[Step::Drop(5.0)]));
        sim.run_until(sim.now + 1.0);
        sim.set_page(Page { online: false, visible: true });
        sim.run_until(sim.now + 10.0);
        sim.input(slot, Input::Cancel);
        sim.set_page(Page { online: true, visible: true });
    }
    let (call, _) = sim.start(budgeted(&[status(503)]));
    sim.run();
    assert_eq!(sim.traces[call].sent.len(), 5);
}

#[test]
fn a_click_costs_nothing_and_is_never_refused() {
    let mut sim = Sim::new(1);
    for _ in 0..6 {
        sim.start(budgeted(&[status(503)]));
    }
    sim.run_until(0.0);
    let (held, slot) = sim.start(budgeted(&[status(503)]).with(|p| {
        p.on_exhausted = policy::OnExhausted::Hold;
    }));
    sim.run_until(0.0);
    for _ in 0..50 {
        assert!(sim.input(slot, Input::Retry));
        sim.run_until(sim.now);
    }
    assert_eq!(sim.traces[held].sent.len(), 51);
    // A token in ten seconds: the bucket was empty, and not fifty tokens below.
    sim.run_until(59_000.0);
    let (early, _) = sim.start(budgeted(&[status(503)]));
    sim.run_until(75_000.0);
    assert_eq!(sim.traces[early].sent.len(), 1);
    let (again, _) = sim.start(budgeted(&[status(503), ok()]));
    sim.run_until(85_000.0);
    assert_eq!(sim.traces[again].sent.len(), 2);
}

#[test]
fn a_call_in_the_queue_is_told_the_later_of_its_own_wait_and_the_circuits() {
    let mut sim = Sim::new(1);
    let slow = plan(&[status(500), ok()]).with(|p| {
        p.retry.delay = Span::from_ms(5_000.0);
        p.on_circuit_open = OnCircuitOpen::Wait;
    });
    sim.start(slow.behind("a", policy::Breaker { consecutive_failures: 1, ..b0() }));
    sim.run_until(500.0);
    let due = Instant::from_ms(5_000.0);
    let told = |view: &View| matches!(view, View::Queued { refusal, .. } if refusal.retry_at == Some(due));
    assert!(sim.traces[0].states.iter().any(|(at, _, view)| *at == 0.0 && told(view)));
    sim.run();
    assert_eq!(sim.traces[0].sent, [0.0, 5_000.0]);
}

#[test]
fn a_retry_after_without_end_keeps_a_circuit_open_and_stops_nothing() {
    for ms in [1e15, 1e17, f64::INFINITY] {
        let mut sim = Sim::new(1);
        sim.by_hand(|engine, _| engine.set_observed(true));
        for _ in 0..3 {
            sim.start(one(Step::RetryAfter(503, ms)).with(|p| p.retry.max_retry_after = Span::ZERO));
        }
        sim.run_until(5_000.0);
        assert!(
            matches!(sim.circuit("a").unwrap().status, Status::Open(until) if until < Instant::NEVER),
            "{ms}"
        );
    }
}

#[test]
fn a_call_that_comes_back_online_heeds_what_another_was_told() {
    for probe in [false, true] {
        let mut sim = Sim::new(1);
        sim.set_page(Page { online: false, visible: true });
        let (call, _) = sim.start(plan(&[ok()]).behind("a", b0()));
        // One that does not believe the browser is told to stay away for long.
        let told = one(Step::RetryAfter(429, 50_000.0)).with(|p| p.on_offline = policy::OnOffline::Ignore);
        sim.start(told);
        sim.run_until(1.0);
        if !probe {
            sim.set_page(Page { online: true, visible: true });
        }
        sim.run();
        // Its probe at 30 s comes too early; when it may go, the browser still says that it is offline.
        assert_eq!(sim.traces[call].sent, [if probe { 80_000.0 } else { 50_000.0 }]);
    }
}

#[test]
fn a_click_in_the_moment_of_its_turn_is_a_click() {
    let mut sim = tripped();
    let (call, slot) = sim.start(waiting(ok()));
    assert_eq!(sim.engine.next_retry_at(), Some(Instant::from_ms(1_000.0)));
    sim.now = 1_000.0;
    assert!(sim.input(slot, Input::RetryNow));
    assert_eq!(sim.traces[call].sent, [1_000.0]);
}

#[test]
fn a_probe_that_hangs_is_given_up_when_its_lease_ends_whoever_looks() {
    let leased = policy::Breaker { probe_lease: Some(Span::from_ms(500.0)), ..b0() };
    // Whether someone looks, and whether the timer comes late.
    for (observed, late) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut sim = tripped();
        sim.by_hand(|engine, _| engine.set_observed(observed));
        sim.run_until(1_000.0);
        let (probe, slot) = sim.start(one(Step::Stall).behind("a", leased));
        assert_eq!(sim.traces[probe].sent, [1_000.0]);
        if late {
            sim.now = 1_600.0;
        } else {
            sim.run_until(1_600.0);
        }
        let (call, _) = sim.start(one(ok()).behind("a", leased));
        let until = Some(Instant::from_ms(2_500.0));
        let end = sim.traces[call].end;
        assert!(
            matches!(end, Some((_, End::CircuitOpen(refusal, _), _)) if refusal.retry_at == until),
            "{observed} {late} {end:?}"
        );
        sim.now = 3_000.0;
        let (call, _) = sim.start(one(ok()).behind("a", leased));
        assert!(succeeded(&sim, call) || sim.traces[call].sent == [3_000.0]);
        sim.input(slot, Input::Cancel);
    }
}

#[test]
fn what_has_come_and_gone_unseen_is_told_in_its_order() {
    let leased = policy::Breaker { probe_lease: Some(Span::from_ms(500.0)), ..b0() };
    let mut sim = tripped();
    sim.run_until(1_000.0);
    sim.start(one(Step::Stall).behind("a", leased));
    sim.now = 9_000.0;
    sim.start(one(ok()).behind("a", leased));
    sim.run_until(9_000.0);
    let told = [(1_000.0, "half-open"), (9_000.0, "open"), (9_000.0, "half-open"), (9_000.0, "closed")];
    assert_eq!(statuses(&sim)[1..], told);
}

#[test]
fn a_cancel_or_a_click_that_comes_after_the_end_of_a_lease_finds_it_ended() {
    let leased = policy::Breaker { probe_lease: Some(Span::from_ms(500.0)), ..b0() };
    let begun = || {
        let mut sim = tripped();
        sim.run_until(1_000.0);
        let (_, probe) = sim.start(one(Step::Stall).behind("a", leased));
        let (waits, queued) = sim.start(waiting(ok()));
        sim.now = 1_600.0;
        (sim, probe, waits, queued)
    };
    let (mut sim, probe, ..) = begun();
    sim.input(probe, Input::Cancel);
    assert_eq!(sim.circuit("a").unwrap().status, Status::Open(Instant::from_ms(2_500.0)));
    let (mut sim, _, waits, queued) = begun();
    sim.input(queued, Input::RetryNow);
    assert_eq!(sim.traces[waits].sent, [1_600.0]);
}

#[test]
fn what_is_held_by_hand_is_afterwards_what_it_was() {
    // Open until the old time, and half-open where that is over.
    for (at, status) in [
        (10.0, Status::Open(Instant::from_ms(1_000.0))),
        (1_000.0, Status::HalfOpen),
        (5_000.0, Status::HalfOpen),
    ] {
        let mut sim = tripped();
        let id = sim.engine.find_circuit("a").unwrap();
        sim.by_hand(|engine, now| engine.isolate(id, now));
        assert_eq!(sim.circuit("a").unwrap().reason, Some(Reason::Isolated));
        let kept = sim.engine.kept().next().unwrap().circuit;
        assert_eq!(kept, Some((Instant::from_ms(1_000.0), 0, Some(Reason::Consecutive))));
        sim.run_until(at);
        sim.by_hand(|engine, now| engine.let_go(id, now));
        let view = sim.circuit("a").unwrap();
        assert_eq!((view.status, view.reason), (status, Some(Reason::Consecutive)));
        let kind = if status == Status::HalfOpen { "half-open" } else { "open" };
        assert_eq!(statuses(&sim), [(0.0, "open"), (0.0, "isolated"), (at, kind)]);
    }
}

#[test]
fn a_hand_ends_the_wait_for_a_probe_and_keeps_the_failures_in_a_row() {
    let mut sim = tripped();
    sim.run_until(1_000.0);
    let (_, slot) = sim.start(one(Step::Stall));
    let id = sim.engine.find_circuit("a").unwrap();
    sim.by_hand(|engine, now| engine.isolate(id, now));
    sim.by_hand(|engine, now| engine.let_go(id, now));
    let (call, _) = sim.start(one(ok()));
    assert_eq!(sim.traces[call].sent, [1_000.0]);
    sim.input(slot, Input::Cancel);
    sim.run();

    let mut sim = Sim::new(1);
    for failures in 1..=3 {
        sim.start(one(status(500)));
        sim.run_until(0.0);
        let id = sim.engine.find_circuit("a").unwrap();
        sim.by_hand(|engine, now| engine.isolate(id, now));
        sim.by_hand(|engine, now| engine.let_go(id, now));
        assert_eq!(sim.circuit("a").unwrap().consecutive_failures, failures);
    }
    assert!(matches!(sim.circuit("a").unwrap().status, Status::Open(_)));
}

#[test]
fn reset_closes_what_is_held_beneath_the_hand() {
    let mut sim = tripped();
    let id = sim.engine.find_circuit("a").unwrap();
    sim.by_hand(|engine, now| engine.isolate(id, now));
    sim.by_hand(|engine, now| engine.reset(id, now));
    assert_eq!(sim.circuit("a").unwrap().status, Status::Isolated);
    sim.by_hand(|engine, now| engine.let_go(id, now));
    assert_eq!(statuses(&sim), [(0.0, "open"), (0.0, "isolated"), (0.0, "closed")]);
}

#[test]
fn no_more_circuits_are_held_by_hand_than_are_kept() {
    let mut sim = Sim::new(1);
    let mut hold = |key: usize| {
        let id = sim.engine.resolve(&format!("k{key}"), Some(b0()), Instant::default());
        (id, sim.by_hand(|engine, now| engine.isolate(id, now)))
    };
    let held: Vec<_> = (0..1_000).map(&mut hold).collect();
    assert!(held.iter().all(|(_, held)| *held));
    assert!((1_000..5_000).all(|key| !hold(key).1));
    assert!(hold(0).1, "once more what is held already");
    assert!(sim.engine.circuits().count() <= 1_001);
    let held = held[5].0;
    sim.by_hand(|engine, now| engine.let_go(held, now));
    let id = sim.engine.resolve("new", Some(b0()), Instant::default());
    assert!(sim.by_hand(|engine, now| engine.isolate(id, now)));
}

#[test]
fn an_attempt_that_runs_out_is_judged_before_a_retry_that_is_due_in_the_same_moment() {
    let two = policy::Breaker { consecutive_failures: 2, ..b0() };
    let second = Span::from_ms(1_000.0);
    let retried = || plan(&[status(503)]).with(|p| p.retry.delay = second).behind("a", two);
    let limited = || {
        plan(&[Step::Stall]).behind("a", two).with(|p| {
            p.timeout = Some(second);
            p.retry.limit = 0;
        })
    };
    for plans in [[retried(), limited()], [limited(), retried()]] {
        let mut sim = Sim::new(1);
        for plan in plans {
            sim.start(plan);
        }
        sim.run();
        assert!(sim.traces.iter().all(|trace| trace.sent == [0.0]));
        assert_eq!(statuses(&sim)[0], (1_000.0, "open"));
    }
}
