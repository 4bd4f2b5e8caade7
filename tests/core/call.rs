//! One call against a scripted server, in virtual time.

use crate::sim::{Plan, Sim, Step, ok, plan, status};
use steadfetch::core::call::{AbortReason, Action, Carry, End, ExhaustedReason, Hooks, Input, Source, View};
use steadfetch::core::classify::{FailReason, Outcome, Traits};
use steadfetch::core::connectivity::Page;
use steadfetch::core::keepalive::Quota;
use steadfetch::core::policy::{Breaker, Budget, Covers, Fleet, Jitter, OnExhausted, OnOffline, Retry};
use steadfetch::core::time::{Instant, Span};

const OFFLINE: Page = Page { online: false, visible: true };
const ONLINE: Page = Page { online: true, visible: true };

/// delay 100, factor 2, three retries, no jitter.
fn d0(script: &[Step]) -> Plan {
    plan(script).with(|p| {
        p.retry = Retry {
            limit: 3,
            delay: Span::from_ms(100.0),
            backoff_limit: Span::from_ms(10_000.0),
            jitter: Jitter::None,
            max_retry_after: Span::from_ms(3_600_000.0),
            ..Retry::default()
        };
    })
}

fn once(plan: Plan) -> crate::sim::Trace {
    let mut sim = Sim::new(1);
    sim.start(plan);
    sim.run();
    assert_eq!(sim.engine.next_timeout(), None, "a timer is left");
    sim.traces.remove(0)
}

fn limit() -> End {
    End::Exhausted(ExhaustedReason::Limit, None)
}

#[test]
fn profile_a_waits_with_equal_jitter_under_a_ceiling() {
    // 4 attempts, wait min(20000, 400 * 2^attempt) with equal jitter, transient = no status, 429, >= 500.
    for seed in 0..200 {
        let mut sim = Sim::new(seed);
        sim.start(plan(&[Step::Drop(0.0), status(429), status(501), status(503)]).with(|p| {
            p.retry = Retry {
                limit: 3,
                delay: Span::from_ms(800.0),
                backoff_limit: Span::from_ms(20_000.0),
                jitter: Jitter::Equal,
                ..Retry::default()
            };
            p.retry.statuses = steadfetch::core::policy::Statuses::NONE;
            p.retry.statuses.add(429);
            p.retry.statuses.add_5xx();
        }));
        sim.run();
        let sent = &sim.traces[0].sent;
        assert_eq!(sent.len(), 4);
        for (attempt, pair) in (1..).zip(sent.windows(2)) {
            let full = 400.0 * f64::from(1 << attempt);
            assert!((full / 2.0..=full).contains(&(pair[1] - pair[0])), "{attempt}: {pair:?}");
        }
        assert_eq!(sim.traces[0].end, Some((sent[3], limit(), Carry::Response)));
    }
}

#[test]
fn without_jitter_profile_a_is_exact() {
    let trace = once(plan(&[status(503)]).with(|p| {
        p.retry.limit = 6;
        p.retry.delay = Span::from_ms(800.0);
        p.retry.backoff_limit = Span::from_ms(20_000.0);
    }));
    let waits: Vec<f64> = trace.sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [800.0, 1_600.0, 3_200.0, 6_400.0, 12_800.0, 20_000.0]);
}

#[test]
fn a_call_that_always_fails_waits_100_200_400_and_ends_with_the_last_response() {
    let trace = once(d0(&[status(503)]));
    assert_eq!(trace.sent, [0.0, 100.0, 300.0, 700.0]);
    assert_eq!(trace.end, Some((700.0, limit(), Carry::Response)));
    assert_eq!(trace.discarded, 3, "only the last response is the caller's");
    let waits: Vec<_> = trace
        .states
        .iter()
        .filter_map(|(_, _, view)| match view {
            View::Waiting { delay, source, .. } => Some((delay.as_ms(), *source)),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [(100.0, Source::Backoff), (200.0, Source::Backoff), (400.0, Source::Backoff)]);
}

#[test]
fn a_last_attempt_that_no_other_would_mend_fails_by_its_status() {
    let trace = once(d0(&[status(503), status(503), status(503), status(404)]));
    assert_eq!(trace.end, Some((700.0, End::Failed(FailReason::Status), Carry::Response)));
}

#[test]
fn the_next_retry_is_that_of_the_wait_that_ends_first() {
    let mut sim = Sim::new(1);
    sim.start(d0(&[status(503)]).with(|p| p.retry.delay = Span::from_ms(300.0)));
    sim.start(d0(&[status(503)]));
    sim.run_until(0.0);
    assert_eq!(sim.engine.next_retry_at(), Some(Instant::from_ms(100.0)));
}

#[test]
fn a_network_failure_at_the_end_rejects_with_it() {
    assert_eq!(once(d0(&[status(503), Step::Drop(0.0)])).end, Some((700.0, limit(), Carry::Error)));
}

#[test]
fn a_bad_response_at_the_end_rejects_where_that_is_wanted() {
    let throws = |p: &mut steadfetch::core::policy::Policy| p.throw_http_errors = true;
    for (script, end, carry) in [
        ([status(404)], End::Failed(FailReason::Status), Carry::HttpError),
        ([status(503)], limit(), Carry::HttpError),
        ([Step::Drop(0.0)], limit(), Carry::Error),
        ([ok()], End::Success, Carry::Response),
    ] {
        let (_, ended, carried) = once(d0(&script).with(throws)).end.unwrap();
        assert_eq!((ended, carried), (end, carry));
    }
}

#[test]
fn no_retries_means_one_attempt() {
    let trace = once(d0(&[status(503)]).with(|p| p.retry.limit = 0));
    assert_eq!((trace.sent.len(), trace.end), (1, Some((0.0, limit(), Carry::Response))));
}

#[test]
fn zero_delay_and_zero_ceiling_retry_at_once() {
    for change in [|r: &mut Retry| r.delay = Span::ZERO, |r: &mut Retry| r.backoff_limit = Span::ZERO] {
        assert_eq!(once(d0(&[status(503)]).with(|p| change(&mut p.retry))).sent, [0.0; 4]);
    }
}

#[test]
fn a_wait_is_not_below_its_floor() {
    let trace = once(d0(&[status(503)]).with(|p| p.retry.min_delay = Span::from_ms(250.0)));
    assert_eq!(trace.sent, [0.0, 250.0, 500.0, 900.0]);
}

#[test]
fn the_servers_hint_is_a_minimum() {
    let trace = once(d0(&[Step::RetryAfter(503, 2_000.0), Step::RetryAfter(429, 50.0), ok()]));
    assert_eq!(trace.sent, [0.0, 2_000.0, 2_200.0]);
    assert!(matches!(trace.states[1].2, View::Waiting { source: Source::RetryAfter, .. }));
    assert!(matches!(trace.states[3].2, View::Waiting { source: Source::Backoff, .. }));
}

#[test]
fn with_jitter_a_hint_is_stretched_by_at_most_a_tenth_and_never_cut() {
    let mut stretched = 0;
    for seed in 0..300 {
        let mut sim = Sim::new(seed);
        sim.start(d0(&[Step::RetryAfter(503, 10_000.0), ok()]).with(|p| p.retry.jitter = Jitter::Full));
        sim.run();
        let wait = sim.traces[0].sent[1];
        assert!((10_000.0..=11_000.0).contains(&wait), "{wait}");
        stretched += u32::from(wait > 10_000.0);
    }
    assert!(stretched > 250);
}

#[test]
fn a_hint_beyond_the_limit_ends_the_call_at_once() {
    let patient =
        |p: &mut steadfetch::core::policy::Policy| p.retry.max_retry_after = Span::from_ms(60_000.0);
    let trace = once(d0(&[Step::RetryAfter(429, 60_000.0), ok()]).with(patient));
    assert_eq!(trace.sent, [0.0, 60_000.0]);
    let trace = once(d0(&[Step::RetryAfter(429, 61_000.0), ok()]).with(patient));
    let end = End::Exhausted(ExhaustedReason::RetryAfterTooLong, Some(Instant::from_ms(61_000.0)));
    assert_eq!((trace.sent.len(), trace.end), (1, Some((0.0, end, Carry::Response))));
    let trace = once(
        d0(&[Step::RetryAfter(429, 6_000.0), ok()]).with(|p| p.total_timeout = Some(Span::from_ms(5_000.0))),
    );
    let end = End::Exhausted(ExhaustedReason::RetryAfterTooLong, Some(Instant::from_ms(6_000.0)));
    assert_eq!((trace.sent.len(), trace.end), (1, Some((0.0, end, Carry::Response))));
}

#[test]
fn an_attempt_that_takes_too_long_is_aborted_and_retried() {
    let timed = |p: &mut steadfetch::core::policy::Policy| p.timeout = Some(Span::from_ms(100.0));
    let trace = once(d0(&[Step::Stall, ok()]).with(timed));
    assert_eq!(trace.sent, [0.0, 200.0]);
    assert_eq!(trace.aborted, [(100.0, AbortReason::Timeout)]);
    let trace = once(d0(&[Step::Stall]).with(timed));
    assert_eq!(trace.end, Some((1_100.0, limit(), Carry::Error)));
    let trace = once(d0(&[Step::Stall]).with(|p| {
        timed(p);
        p.retry.on_timeout = false;
    }));
    assert_eq!(trace.end, Some((100.0, End::Failed(FailReason::Vetoed), Carry::Error)));
}

#[test]
fn the_total_limit_aborts_an_attempt_and_ends_a_wait_before_it_begins() {
    let total =
        |ms| move |p: &mut steadfetch::core::policy::Policy| p.total_timeout = Some(Span::from_ms(ms));
    let end = End::Exhausted(ExhaustedReason::TotalTimeout, None);
    let trace = once(d0(&[Step::Stall]).with(total(500.0)));
    assert_eq!(trace.end, Some((500.0, end, Carry::TotalTimeout)));
    assert_eq!(trace.aborted, [(500.0, AbortReason::TotalTimeout)]);
    // 400 ms an attempt: the third would begin at 1100.
    let trace = once(d0(&[Step::Drop(400.0)]).with(total(1_000.0)));
    assert_eq!((trace.sent, trace.end), (vec![0.0, 500.0], Some((900.0, end, Carry::Error))));
    let trace = once(d0(&[Step::Status(503, 400.0)]).with(total(1_000.0)));
    assert_eq!(trace.end, Some((900.0, end, Carry::Response)));
}

#[test]
fn an_attempt_that_the_total_limit_aborts_has_failed() {
    let trace = once(d0(&[status(503), Step::Stall]).with(|p| p.total_timeout = Some(Span::from_ms(500.0))));
    assert_eq!(trace.failures.last(), Some(&(Outcome::Timeout, Span::from_ms(400.0))));
}

#[test]
fn the_signal_of_a_hook_is_aborted_when_the_caller_gives_up_and_not_by_the_total_limit() {
    for hooks in
        [Hooks { should_retry: true, ..Hooks::default() }, Hooks { before_retry: true, ..Hooks::default() }]
    {
        for (cancelled, aborted) in [(true, vec![(250.0, AbortReason::Cancelled)]), (false, vec![])] {
            let mut sim = Sim::new(1);
            let slow = d0(&[status(503)]).with(|p| p.total_timeout = Some(Span::from_ms(500.0)));
            let (_, slot) = sim.start(Plan { hooks, late: true, ..slow });
            sim.run_until(250.0);
            if cancelled {
                sim.input(slot, Input::Cancel);
            }
            sim.run();
            assert!(sim.traces[0].end.is_some());
            assert_eq!(sim.traces[0].aborted, aborted, "{hooks:?}");
        }
    }
}

#[test]
fn a_post_is_sent_once_unless_it_has_a_key() {
    let post = |keyed| {
        let mut plan = d0(&[Step::Drop(0.0), status(503), ok()]);
        plan.traits.listed = false;
        plan.traits.keyed = keyed;
        once(plan)
    };
    assert_eq!(post(false).end, Some((0.0, End::Failed(FailReason::NotIdempotent), Carry::Error)));
    assert_eq!(post(true).end, Some((300.0, End::Success, Carry::Response)));
}

#[test]
fn a_conflict_is_retried_only_as_the_echo_of_our_own_request() {
    let keyed = |script: &[Step]| {
        let mut plan = d0(script);
        plan.traits.listed = false;
        plan.traits.keyed = true;
        once(plan)
    };
    assert_eq!(keyed(&[Step::Drop(0.0), status(409), ok()]).sent.len(), 3);
    let trace = keyed(&[status(409), ok()]);
    assert_eq!(
        (trace.sent.len(), trace.end),
        (1, Some((0.0, End::Failed(FailReason::Status), Carry::Response)))
    );
}

#[test]
fn a_stream_is_sent_once_and_its_outcome_kept() {
    let mut stream = d0(&[status(503), ok()]);
    stream.traits.replayable = false;
    let trace = once(stream);
    assert_eq!(trace.end, Some((0.0, End::Failed(FailReason::BodyNotReplayable), Carry::Response)));
    assert_eq!((trace.sent.len(), trace.discarded), (1, 0));
}

#[test]
fn cancelling_works_in_every_state_and_nothing_is_sent_after() {
    let cancelled = |at: f64, plan: Plan| {
        let mut sim = Sim::new(1);
        let (_, slot) = sim.start(plan);
        sim.run_until(at);
        sim.input(slot, Input::Cancel);
        let sent = sim.traces[0].sent.len();
        sim.run();
        let trace = &sim.traces[0];
        assert_eq!(trace.end, Some((at, End::Cancelled, Carry::Reason)));
        assert_eq!(trace.sent.len(), sent);
        assert_eq!(sim.engine.next_timeout(), None);
        let aborted = trace.aborted.clone();
        assert!(!sim.input(slot, Input::Cancel), "a second time changes nothing");
        aborted
    };
    assert_eq!(cancelled(50.0, d0(&[status(503)])), [], "while it waits");
    assert_eq!(cancelled(50.0, d0(&[Step::Stall])), [(50.0, AbortReason::Cancelled)], "in an attempt");
    // In the very turn in which the wait is over.
    cancelled(99.999, d0(&[status(503)]));
}

#[test]
fn should_retry_decides_and_the_limit_holds() {
    let hooked = |script: &[Step], answer| {
        let mut plan = d0(script);
        plan.hooks.should_retry = true;
        plan.should_retry = answer;
        once(plan)
    };
    let trace = hooked(&[status(401)], Some(true));
    assert_eq!((trace.sent.len(), trace.end.unwrap().1), (4, limit()));
    assert_eq!(trace.asked.len(), 3, "it is not asked where no retry is left");
    assert_eq!(trace.asked[1], Action::AskShouldRetry { seq: 2, attempt: 2, delay: Span::from_ms(200.0) });
    let trace = hooked(&[status(503)], Some(false));
    assert_eq!((trace.sent.len(), trace.end.unwrap().1), (1, End::Failed(FailReason::Vetoed)));
    assert_eq!(hooked(&[status(503)], None).sent.len(), 4);
    let trace = hooked(&[ok()], Some(true));
    assert_eq!((trace.sent.len(), trace.asked.len()), (1, 0), "it is not asked about a good response");
}

#[test]
fn a_delay_function_sets_the_whole_wait_and_a_hint_stays_a_minimum() {
    let mut hooked = d0(&[status(503), Step::RetryAfter(503, 500.0), ok()]);
    hooked.hooks.delay = true;
    hooked.delay = Some(7.0);
    let trace = once(hooked);
    assert_eq!(trace.sent, [0.0, 7.0, 507.0]);
    assert!(matches!(trace.states[1].2, View::Waiting { source: Source::Custom, .. }));
    assert!(matches!(trace.states[3].2, View::Waiting { source: Source::RetryAfter, .. }));
}

#[test]
fn a_delay_function_is_asked_for_each_retry_and_not_after_the_last() {
    let mut hooked = d0(&[status(503)]);
    hooked.hooks.delay = true;
    hooked.delay = Some(7.0);
    let trace = once(hooked);
    assert_eq!((trace.sent.as_slice(), trace.asked.len()), ([0.0, 7.0, 14.0, 21.0].as_slice(), 3));
}

#[test]
fn before_retry_runs_before_each_further_attempt() {
    let mut hooked = d0(&[status(503), status(503), ok()]);
    hooked.hooks.before_retry = true;
    let asked = once(hooked).asked;
    assert_eq!(
        asked,
        [
            Action::AskBeforeRetry { seq: 2, attempt: 1, delay: Span::from_ms(100.0) },
            Action::AskBeforeRetry { seq: 3, attempt: 2, delay: Span::from_ms(200.0) },
        ]
    );
}

#[test]
fn a_hook_that_throws_ends_the_call_with_what_it_threw() {
    for (hooks, sent) in [
        (Hooks { should_retry: true, ..Hooks::default() }, 1),
        (Hooks { delay: true, ..Hooks::default() }, 1),
        (Hooks { before_retry: true, ..Hooks::default() }, 1),
    ] {
        let mut hooked = d0(&[status(503), ok()]);
        hooked.hooks = hooks;
        hooked.throws = true;
        let trace = once(hooked);
        assert_eq!(trace.end.unwrap().1, End::Failed(FailReason::CallbackThrew), "{hooks:?}");
        assert_eq!(trace.end.unwrap().2, Carry::Error);
        assert_eq!((trace.sent.len(), trace.discarded), (sent, 1), "{hooks:?}");
    }
}

#[test]
fn retry_now_ends_a_wait_and_the_backoff_goes_on_from_there() {
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(d0(&[status(503)]));
    sim.run_until(10.0);
    assert!(sim.input(slot, Input::RetryNow));
    sim.run();
    assert_eq!(sim.traces[0].sent, [0.0, 10.0, 210.0, 610.0]);
    assert!(!sim.input(slot, Input::RetryNow));
}

#[test]
fn a_held_call_goes_on_as_the_next_run() {
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(d0(&[status(503)]).with(|p| p.on_exhausted = OnExhausted::Hold));
    sim.run();
    assert_eq!(sim.traces[0].end, None);
    assert!(matches!(sim.traces[0].states.last(), Some((_, 4, View::Held { carry: Carry::Response, .. }))));
    assert!(sim.input(slot, Input::Retry));
    sim.run();
    assert_eq!(sim.traces[0].sent.len(), 8);
    sim.input(slot, Input::Cancel);
    assert_eq!(sim.traces[0].end.unwrap().1, End::Cancelled);
}

#[test]
fn a_body_that_belongs_to_the_attempt_is_read_before_the_end() {
    let trace = once(d0(&[status(503), ok()]).with(|p| p.covers = Covers::Body));
    assert_eq!(trace.end, Some((100.0, End::Success, Carry::Response)));
    let trace = once(d0(&[status(404)]).with(|p| p.covers = Covers::Body));
    assert_eq!(trace.end, Some((0.0, End::Failed(FailReason::Status), Carry::Response)));
}

#[test]
fn only_a_body_that_belongs_to_the_attempt_is_waited_for() {
    for (covers, waits) in [(Covers::Body, true), (Covers::Headers, false)] {
        let mut sim = Sim::new(1);
        let (_, slot) = sim.start(Plan { late: true, ..d0(&[ok()]).with(|p| p.covers = covers) });
        sim.run_until(50.0);
        assert_eq!(sim.traces[0].end.is_none(), waits);
        assert_eq!(sim.answer(slot), waits);
        let at = if waits { 50.0 } else { 0.0 };
        assert_eq!(sim.traces[0].end, Some((at, End::Success, Carry::Response)));
    }
}

#[test]
fn a_body_that_breaks_off_brings_no_time_back() {
    for breaks_off in [true, false] {
        let mut sim = Sim::new(1);
        let mut plan = d0(&[Step::RetryAfter(503, 3_600_000.0), ok()]).with(|p| {
            p.covers = Covers::Body;
            p.timeout = Some(Span::from_ms(1_000.0));
            p.retry.max_retry_after = Span::from_ms(60_000.0);
        });
        plan.late = true;
        let (_, slot) = sim.start(plan);
        sim.run_until(500.0);
        if breaks_off {
            let seq = sim.traces[0].seqs[0];
            assert!(sim.outcome(slot, seq, Outcome::Network));
        }
        sim.run();
        let trace = &sim.traces[0];
        assert_eq!(trace.sent.len(), 1, "the server said in an hour");
        let at = if breaks_off { 500.0 } else { 1_000.0 };
        let until = Some(Instant::from_ms(3_600_000.0));
        let end = End::Exhausted(ExhaustedReason::RetryAfterTooLong, until);
        assert_eq!(trace.end, Some((at, end, Carry::Error)));
    }
}

// ------------------------------------------------------------ offline

#[test]
fn an_offline_call_waits_and_goes_on_when_the_browser_is_back() {
    let mut sim = Sim::new(1);
    sim.set_page(OFFLINE);
    sim.start(d0(&[ok()]));
    sim.run_until(5_000.0);
    assert!(matches!(sim.traces[0].states[..], [(0.0, 0, View::Offline { .. })]));
    sim.set_page(ONLINE);
    sim.run();
    assert_eq!(sim.traces[0].sent, [5_000.0]);
}

#[test]
fn with_jitter_calls_come_back_spread_over_a_second() {
    let mut sim = Sim::new(1);
    sim.set_page(OFFLINE);
    for _ in 0..200 {
        sim.start(d0(&[ok()]).with(|p| p.retry.jitter = Jitter::Full));
    }
    sim.set_page(ONLINE);
    sim.run();
    let sent: Vec<f64> = sim.traces.iter().map(|trace| trace.sent[0]).collect();
    assert!(sent.iter().all(|at| (0.0..1_000.0).contains(at)));
    assert!(sent.iter().any(|at| *at < 200.0) && sent.iter().any(|at| *at > 800.0));
}

#[test]
fn a_large_fleet_comes_back_spread_over_five_seconds() {
    for (fleet, within) in [(Fleet::Small, 1_000.0), (Fleet::Large, 5_000.0)] {
        let mut sim = Sim::new(1);
        sim.set_page(OFFLINE);
        for _ in 0..200 {
            sim.start(d0(&[ok()]).with(|p| {
                p.retry.jitter = Jitter::Full;
                p.budget = Some(Budget { fleet, ..Budget::default() });
            }));
        }
        sim.set_page(ONLINE);
        sim.run();
        let last = sim.traces.iter().map(|trace| trace.sent[0]).fold(0.0, f64::max);
        assert!((0.8 * within..within).contains(&last), "{last}");
    }
}

#[test]
fn a_browser_that_is_wrong_about_offline_is_found_out_by_probes() {
    let mut sim = Sim::new(1);
    sim.set_page(OFFLINE);
    sim.start(d0(&[
        Step::Drop(0.0),
        Step::Drop(0.0),
        Step::Drop(0.0),
        Step::Drop(0.0),
        Step::Drop(0.0),
        ok(),
    ]));
    sim.run();
    let trace = &sim.traces[0];
    assert_eq!(trace.sent, [30_000.0, 60_000.0, 90_000.0, 120_000.0, 150_000.0, 180_000.0]);
    assert_eq!(trace.end.unwrap().1, End::Success, "probes cost no attempt");
    assert!(
        trace.states.iter().all(|(_, attempt, _)| *attempt <= 1),
        "and count for none: {:?}",
        trace.states
    );
}

#[test]
fn a_wait_becomes_offline_and_an_early_online_ends_no_servers_minimum() {
    let offline_at_10 = |step| {
        let mut sim = Sim::new(1);
        sim.start(d0(&[step, ok()]).with(|p| p.retry.delay = Span::from_ms(60_000.0)).with(|p| {
            p.retry.backoff_limit = Span::from_ms(60_000.0);
        }));
        sim.run_until(10.0);
        sim.set_page(OFFLINE);
        assert!(matches!(sim.traces[0].states.last(), Some((10.0, 1, View::Offline { .. }))));
        sim.run_until(5_000.0);
        sim.set_page(ONLINE);
        sim.run();
        sim.traces[0].sent.clone()
    };
    assert_eq!(offline_at_10(Step::Drop(0.0)), [0.0, 5_000.0]);
    assert_eq!(offline_at_10(Step::RetryAfter(503, 90_000.0)), [0.0, 90_000.0]);
}

#[test]
fn offline_can_be_rejected_or_ignored() {
    let mut sim = Sim::new(1);
    sim.set_page(OFFLINE);
    sim.start(d0(&[ok()]).with(|p| p.on_offline = OnOffline::Reject));
    sim.start(d0(&[ok()]).with(|p| p.on_offline = OnOffline::Ignore));
    sim.run();
    assert_eq!(sim.traces[0].end, Some((0.0, End::Failed(FailReason::Offline), Carry::Offline)));
    assert_eq!(sim.traces[1].end, Some((0.0, End::Success, Carry::Response)));
}

/// A minute's wait of one that ignores offline, which the browser is from 10 ms to 5 s.
fn ignoring(step: Step, seed: u64, jitter: Jitter) -> crate::sim::Trace {
    let mut sim = Sim::new(seed);
    sim.start(d0(&[step, ok()]).with(|p| {
        p.retry.delay = Span::from_ms(60_000.0);
        p.retry.backoff_limit = Span::from_ms(60_000.0);
        p.retry.jitter = jitter;
        p.on_offline = OnOffline::Ignore;
    }));
    sim.run_until(10.0);
    sim.set_page(OFFLINE);
    sim.run_until(5_000.0);
    sim.set_page(ONLINE);
    sim.run();
    sim.traces.remove(0)
}

#[test]
fn a_wait_that_ignores_offline_is_no_other_state() {
    let states = ignoring(status(503), 1, Jitter::None).states;
    assert!(!states.iter().any(|(.., view)| matches!(view, View::Offline { .. })));
}

#[test]
fn a_wait_that_ignores_offline_ends_when_the_browser_is_back() {
    assert_eq!(ignoring(status(503), 1, Jitter::None).sent, [0.0, 5_000.0]);
}

#[test]
fn with_jitter_waits_end_spread_over_a_second_when_the_browser_is_back() {
    let again: Vec<f64> =
        (0..50).map(|seed| ignoring(status(503), seed, Jitter::Equal).sent[1] - 5_000.0).collect();
    assert!(again.iter().all(|after| (0.0..1_000.0).contains(after)));
    assert!(again.iter().any(|after| *after < 300.0) && again.iter().any(|after| *after > 700.0));
}

#[test]
fn a_wait_that_the_browsers_return_does_not_shorten_is_not_told_anew() {
    let trace = ignoring(Step::RetryAfter(503, 90_000.0), 1, Jitter::None);
    assert_eq!(trace.sent, [0.0, 90_000.0]);
    assert_eq!(trace.states.iter().filter(|(.., view)| matches!(view, View::Waiting { .. })).count(), 1);
}

#[test]
fn retry_now_does_not_believe_the_browser() {
    let mut sim = Sim::new(1);
    sim.set_page(OFFLINE);
    let (_, slot) = sim.start(d0(&[ok()]));
    sim.run_until(100.0);
    assert!(sim.input(slot, Input::RetryNow));
    sim.run();
    assert_eq!(sim.traces[0].end, Some((100.0, End::Success, Carry::Response)));
}

// ------------------------------------------------------------ countdown

fn shown(sim: &Sim) -> Vec<f64> {
    let remaining = |(_, _, view): &(f64, u32, View)| match view {
        View::Waiting { remaining, .. } => Some(remaining.as_ms()),
        _ => None,
    };
    sim.traces[0].states.iter().filter_map(remaining).collect()
}

#[test]
fn a_countdown_shows_each_second_once_while_someone_looks() {
    let slow = |p: &mut steadfetch::core::policy::Policy| p.retry.delay = Span::from_ms(4_200.0);
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(d0(&[status(503), ok()]).with(slow));
    sim.run_until(0.0);
    sim.input(slot, Input::Watch(true));
    sim.run();
    assert_eq!(shown(&sim), [4_200.0, 4_000.0, 3_000.0, 2_000.0, 1_000.0]);

    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(d0(&[status(503), ok()]).with(slow));
    sim.run_until(1_500.0);
    assert_eq!(shown(&sim), [4_200.0], "nobody looks");
    sim.input(slot, Input::Watch(true));
    assert_eq!(shown(&sim), [4_200.0, 3_000.0], "who looks sees what is left");
    sim.run_until(2_300.0);
    sim.set_page(Page { online: true, visible: false });
    sim.run_until(3_900.0);
    assert_eq!(shown(&sim), [4_200.0, 3_000.0, 2_000.0], "a hidden page does not tick");
    sim.set_page(ONLINE);
    sim.run();
    assert_eq!(shown(&sim), [4_200.0, 3_000.0, 2_000.0, 1_000.0]);
    assert_eq!(sim.traces[0].sent, [0.0, 4_200.0]);
}

#[test]
fn a_page_that_is_shown_again_shows_at_once_what_is_left() {
    let mut sim = Sim::new(1);
    let (_, slot) = sim.start(d0(&[status(503)]).with(|p| p.retry.delay = Span::from_ms(4_200.0)));
    sim.run_until(0.0);
    sim.input(slot, Input::Watch(true));
    sim.set_page(Page { online: true, visible: false });
    sim.run_until(3_900.0);
    sim.set_page(ONLINE);
    assert_eq!(shown(&sim), [4_200.0, 1_000.0]);
}

#[test]
fn a_wait_without_end_has_no_countdown_and_stops_nothing() {
    for ms in [1e15, 1e17, 1e300, f64::INFINITY] {
        let mut sim = Sim::new(1);
        let (call, slot) = sim.start(d0(&[status(503)]).with(|p| {
            p.retry.delay = Span::from_ms(ms);
            p.retry.backoff_limit = Span::MAX;
        }));
        sim.run_until(0.0);
        sim.input(slot, Input::Watch(true));
        sim.run_until(5_000.0);
        assert!(sim.traces[call].states.len() <= 2, "{ms}");
        sim.input(slot, Input::Cancel);
        assert_eq!(sim.engine.next_timeout(), None);
    }
}

// ------------------------------------------------------------ keepalive

fn kept_alive(bytes: u32, script: &[Step]) -> Plan {
    Plan { keepalive: Some(bytes), ..plan(script) }
}

#[test]
fn after_a_keepalive_failure_one_attempt_without_it_is_free() {
    let trace =
        once(kept_alive(10, &[Step::Drop(0.0), status(503), ok()]).with(|policy| policy.retry.limit = 1));
    assert_eq!(trace.kept_alive, [true, false, false]);
    assert_eq!(trace.sent, [0.0, 0.0, 250.0]);
    let loading = trace.states.iter().filter(|(.., view)| matches!(view, View::Loading { .. }));
    assert_eq!(loading.count(), 2, "the same attempt once more is no other state");
    assert!(matches!(trace.end, Some((_, End::Success, _))));
    let trace = once(kept_alive(10, &[Step::Drop(0.0)]).with(|policy| policy.retry.limit = 1));
    assert_eq!(trace.sent, [0.0, 0.0, 250.0]);
    assert!(matches!(trace.end, Some((_, End::Exhausted(ExhaustedReason::Limit, None), _))));
}

#[test]
fn a_keepalive_failure_is_the_end_of_what_may_not_be_sent_twice() {
    let post = Traits { listed: false, keyed: false, replayable: true };
    let trace = once(Plan { traits: post, ..kept_alive(10, &[Step::Drop(0.0)]) });
    assert_eq!(trace.sent, [0.0]);
    let trace = once(kept_alive(10, &[Step::Drop(0.0)]).with(|policy| policy.retry.limit = 0));
    assert_eq!(trace.sent, [0.0]);
    let vetoed = Hooks { should_retry: true, ..Hooks::default() };
    let trace = once(Plan { hooks: vetoed, should_retry: Some(false), ..kept_alive(10, &[Step::Drop(0.0)]) });
    assert_eq!(trace.sent, [0.0]);
}

#[test]
fn what_is_sent_again_without_keepalive_heeds_what_another_call_was_told() {
    let mut sim = Sim::new(1);
    let (call, _) = sim.start(kept_alive(10, &[Step::Drop(10.0), ok()]).behind("a", Breaker::default()));
    sim.start(
        plan(&[Step::RetryAfter(429, 1_000.0)]).with(|p| p.retry.limit = 0).behind("a", Breaker::default()),
    );
    sim.run_until(5_000.0);
    assert_eq!(sim.traces[call].sent, [0.0, 1_000.0]);
    assert_eq!(sim.traces[call].kept_alive, [true, false]);
}

#[test]
fn a_keepalive_failure_says_nothing_about_the_server() {
    let breaker = Breaker { consecutive_failures: 1, ..Breaker::default() };
    let mut sim = Sim::new(1);
    sim.start(kept_alive(10, &[Step::Drop(0.0), ok()]).behind("a", breaker));
    sim.run();
    assert!(sim.circuits.is_empty());
}

#[test]
fn keepalive_bodies_in_flight_stay_below_the_quota() {
    let mut sim = Sim::new(1);
    let calls: Vec<_> =
        (0..3).map(|_| sim.start(kept_alive(30 * 1_024, &[Step::Status(200, 50.0)])).0).collect();
    let (stalled, slot) = sim.start(kept_alive(0, &[Step::Stall]));
    sim.input(slot, Input::Cancel);
    sim.run();
    let kept: Vec<_> = calls.iter().map(|&call| sim.traces[call].kept_alive.clone()).collect();
    assert_eq!(kept, [[true], [true], [false]]);
    assert_eq!(sim.traces[stalled].kept_alive, [true]);
    assert_eq!(sim.quota, Quota::new());
}

#[test]
fn a_call_that_is_not_retried_keeps_its_keepalive_beyond_the_quota() {
    let mut sim = Sim::new(1);
    for _ in 0..3 {
        sim.start(kept_alive(30 * 1_024, &[Step::Status(200, 50.0)]).with(|policy| policy.retry.limit = 0));
    }
    sim.run();
    assert!(sim.traces.iter().all(|trace| trace.kept_alive == [true]));
}
