//! What comes too late, too early or about another attempt changes nothing, and what is asked about one is answered by
//! what it is.

use crate::sim::{Plan, Sim, Step, ok, plan, status};
use steadfetch::core::call::{AbortReason, Carry, End, Input};
use steadfetch::core::classify::{FailReason, Outcome};
use steadfetch::core::connectivity::Page;
use steadfetch::core::policy::{Breaker, Covers, Policy};
use steadfetch::core::shared::Lock;
use steadfetch::core::time::{Instant, Span};

const GOOD: Outcome = Outcome::Answer { status: 200, hint: None };

/// Given up after 100 ms, and sent once more 100 ms later.
fn timed(policy: &mut Policy) {
    policy.timeout = Some(Span::from_ms(100.0));
    policy.retry.delay = Span::from_ms(100.0);
}

/// A second attempt is under way; gives the names of both.
fn second(plan: Plan) -> (Sim, u32, [u32; 2]) {
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(plan.with(timed));
    sim.run_until(250.0);
    let seqs = sim.traces[0].seqs.clone().try_into().unwrap();
    (sim, slot, seqs)
}

fn shared(script: &[Step]) -> Plan {
    let breaker = Breaker {
        consecutive_failures: 3,
        half_open_after: Span::from_ms(1_000.0),
        shared: true,
        ..Breaker::default()
    };
    plan(script).with(|p| p.retry.limit = 0).behind("a", breaker)
}

#[test]
fn after_the_end_nothing_has_an_effect() {
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(plan(&[Step::Stall]));
    let now = Instant::default();
    // Told, and not yet carried out.
    assert!(sim.engine.handle(slot, Input::Cancel, now));
    for input in [Input::Cancel, Input::Timer, Input::Watched, Input::Watch(true), Input::Start] {
        assert!(!sim.engine.handle(slot, input, now), "{input:?}");
    }
}

#[test]
fn a_call_that_is_not_over_keeps_its_place() {
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(plan(&[ok()]));
    sim.engine.remove(slot);
    sim.run();
    assert_eq!(sim.traces[0].end, Some((0.0, End::Success, Carry::Response)));
}

#[test]
fn an_attempt_is_the_current_one_until_the_call_goes_on() {
    let mut judged = plan(&[status(503)]);
    judged.hooks.should_retry = true;
    judged.late = true;
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(judged);
    let seq = sim.traces[0].seqs[0];
    let current = |sim: &Sim| [seq, seq + 1].map(|seq| sim.engine.is_current(slot, seq));
    assert_eq!(current(&sim), [true, false], "in flight");
    sim.run_until(0.0);
    assert_eq!(current(&sim), [true, false], "while a hook is asked about it");
    sim.answer(slot);
    assert_eq!(current(&sim), [false, false], "while the call waits");
}

#[test]
fn an_attempt_is_awaited_until_its_outcome_is_complete() {
    let mut slow = plan(&[ok(), status(503)]).with(|p| p.covers = Covers::Body);
    slow.hooks.should_retry = true;
    slow.late = true;
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(slow);
    let seq = sim.traces[0].seqs[0];
    let awaited = |sim: &Sim| [seq, seq + 1].map(|seq| sim.engine.awaits(slot, seq));
    assert_eq!(awaited(&sim), [true, false], "in flight");
    sim.run_until(0.0);
    assert_eq!(awaited(&sim), [true, false], "while its body is read");
    assert!(sim.outcome(slot, seq, Outcome::Network));
    assert!(sim.engine.is_current(slot, seq));
    assert_eq!(awaited(&sim), [false, false], "while a hook is asked about it");
}

#[test]
fn the_outcome_of_an_earlier_attempt_is_nobodys() {
    let (mut sim, slot, [first, last]) = second(plan(&[Step::Stall]));
    assert!(!sim.input(slot, Input::Outcome { seq: first, outcome: GOOD, failure: None }));
    assert!(sim.outcome(slot, last, GOOD));
}

#[test]
fn the_body_of_an_earlier_attempt_is_nobodys() {
    let body = plan(&[ok()]).with(|p| p.covers = Covers::Body);
    let (mut sim, slot, [first, last]) = second(Plan { late: true, ..body });
    assert!(!sim.input(slot, Input::BodyRead { seq: first }));
    assert!(sim.input(slot, Input::BodyRead { seq: last }));
}

#[test]
fn what_is_no_response_ends_the_call_unless_its_attempt_is_over() {
    let (mut sim, slot, [first, last]) = second(plan(&[Step::Stall]));
    assert!(!sim.input(slot, Input::NotAResponse { seq: first }));
    assert!(sim.input(slot, Input::NotAResponse { seq: last }));
    assert_eq!(sim.traces[0].end, Some((250.0, End::Failed(FailReason::InvalidRequest), Carry::Error)));
    assert_eq!(sim.traces[0].aborted.last(), Some(&(250.0, AbortReason::Cancelled)));
}

/// The fourth call waits for the lock, with its probe; gives its place and the name of the attempt.
fn asking_for_the_lock() -> (Sim, u32, u32) {
    let mut sim = Sim::new(1);
    for _ in 0..3 {
        sim.start(shared(&[status(500)]));
    }
    sim.run_until(1_000.0);
    sim.slow_lock = true;
    let (_, slot) = sim.start(shared(&[ok()]));
    let seq = sim.asked_lock.unwrap();
    (sim, slot, seq)
}

#[test]
fn the_lock_of_another_attempt_sends_nothing() {
    let (mut sim, slot, seq) = asking_for_the_lock();
    assert!(!sim.input(slot, Input::Locked { seq: seq - 1, lock: Lock::Granted }));
    assert!(sim.traces[3].sent.is_empty());
}

#[test]
fn a_timer_that_comes_too_early_neither_aborts_nor_sends() {
    let mut sim = Sim::new(1);
    let (in_flight, slot) = sim.start(plan(&[Step::Stall]).with(timed));
    sim.input(slot, Input::Timer);
    assert_eq!(sim.traces[in_flight].aborted, []);
    sim.set_page(Page { online: false, visible: true });
    let (offline, slot) = sim.start(plan(&[ok()]));
    sim.input(slot, Input::Timer);
    assert_eq!(sim.traces[offline].sent, []);
}

#[test]
fn a_timer_that_comes_too_early_is_no_answer_to_a_request_for_the_lock() {
    let (mut sim, slot, _) = asking_for_the_lock();
    sim.input(slot, Input::Timer);
    assert!(sim.traces[3].sent.is_empty());
}

#[test]
fn what_cannot_be_sent_ends_before_it_begins() {
    for (input, reason) in
        [(Input::Invalid, FailReason::InvalidRequest), (Input::Spent, FailReason::BodyNotReplayable)]
    {
        let mut sim = Sim::new(1);
        sim.begin(plan(&[ok()]), input);
        assert_eq!(sim.traces[0].end, Some((0.0, End::Failed(reason), Carry::Error)));
        assert_eq!(sim.traces[0].sent, []);
    }
}

#[test]
fn an_attempt_that_is_no_probe_has_no_lock_to_give_back() {
    let mut sim = Sim::new(1);
    sim.start(shared(&[ok()]));
    sim.run();
    assert_eq!(sim.traces[0].unlocked, []);
}

#[test]
fn a_probe_of_a_circuit_that_is_not_shared_has_no_lock_to_give_back() {
    let mut sim = Sim::new(1);
    let alone = |step| plan(&[step]).with(|p| p.retry.limit = 0).behind("a", Breaker::default());
    for _ in 0..5 {
        sim.start(alone(status(500)));
    }
    sim.run_until(60_000.0);
    let (probe, _) = sim.start(alone(ok()));
    sim.run();
    assert_eq!((sim.traces[probe].sent.len(), sim.traces[probe].unlocked.len()), (1, 0));
}

#[test]
fn a_circuit_that_opens_takes_no_lock_from_what_is_in_flight() {
    let mut sim = Sim::new(1);
    let (in_flight, _) = sim.start(shared(&[Step::Stall]));
    for _ in 0..3 {
        sim.start(shared(&[status(500)]));
    }
    sim.run_until(0.0);
    assert_eq!(sim.circuits.len(), 1);
    assert_eq!(sim.traces[in_flight].unlocked, []);
}
