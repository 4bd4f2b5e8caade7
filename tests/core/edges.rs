//! Arithmetic at its edges: every number that an option, a clock, a header or a snapshot can hold. Nothing panics
//! (overflow checks are on in tests), nothing runs back, nothing hangs.

use std::sync::mpsc;
use std::time::Duration;

use crate::sim::{Sim, Step, ok, plan, status};
use proptest::prelude::*;
use steadfetch::core::backoff;
use steadfetch::core::breaker::{Breaker, Reason, Status, Verdict};
use steadfetch::core::budget::Bucket;
use steadfetch::core::call::{Input, View};
use steadfetch::core::hints::{Hint, Timing, http_date};
use steadfetch::core::policy::{self, Budget, Fleet, Jitter, OnCircuitOpen, Retry};
use steadfetch::core::ramp::Ramp;
use steadfetch::core::rng::Rng;
use steadfetch::core::time::{Clock, Instant, Span};

/// Numbers of milliseconds near everything that is special about them.
fn ms() -> impl Strategy<Value = f64> {
    let edges = vec![
        0.0,
        -0.0,
        0.0005,
        0.001,
        1.0,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        -1.0,
        2_147_483_647.0,
        2_147_483_648.0,
        4_294_967_296.0,
        8.64e15,
        9_007_199_254_740_992.0,
        9.223_372_036_854_775e15,
        1.844_674_407_370_955e16,
        1.85e16,
        9.3e18,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    prop_oneof![3 => prop::sample::select(edges), 1 => any::<f64>(), 1 => 0.0..1e7]
}

fn whole() -> impl Strategy<Value = u64> {
    let edges = vec![0, 1, 2, 999, 1_000, u64::from(u32::MAX), 1 << 53, u64::MAX / 2, u64::MAX - 1, u64::MAX];
    prop_oneof![3 => prop::sample::select(edges), 1 => any::<u64>()]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![2 => prop::sample::select(vec![0, 1, 2, 10, u32::MAX - 1, u32::MAX]), 1 => any::<u32>()]
}

fn span() -> impl Strategy<Value = Span> {
    ms().prop_map(Span::from_ms)
}

fn instant() -> impl Strategy<Value = Instant> {
    ms().prop_map(Instant::from_ms)
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop::sample::select(vec![Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::None])
}

fn breaker() -> impl Strategy<Value = policy::Breaker> {
    let counts = (count(), count(), count(), count());
    let spans = (span(), span(), span(), prop::option::of(span()), prop::option::of(span()));
    (counts, spans, 0.0..=1.0, 0.0..=1.0).prop_map(
        |((failures, minimum, probes, successes), (window, after, most, slow, lease), rate, slow_rate)| {
            policy::Breaker {
                consecutive_failures: failures,
                failure_rate: rate,
                minimum_calls: minimum.max(1),
                window,
                slow_call_duration: slow,
                slow_call_rate: slow_rate,
                half_open_after: after,
                max_open: most,
                half_open_probes: probes.max(1),
                half_open_successes: successes.max(1),
                probe_lease: lease,
                ..policy::Breaker::default()
            }
        },
    )
}

#[derive(Clone, Debug)]
enum Op {
    Admit(bool, Span),
    Record(Verdict, Span, Span),
    Release,
    Advance,
    At(Instant),
    Restore(Instant, u32),
    Isolate,
    LetGo,
    Reset,
}

fn op() -> impl Strategy<Value = Op> {
    let verdict = prop::sample::select(vec![Verdict::Success, Verdict::Failure, Verdict::Soft]);
    prop_oneof![
        4 => (any::<bool>(), span()).prop_map(|(click, lease)| Op::Admit(click, lease)),
        4 => (verdict, span(), span()).prop_map(|(verdict, took, hint)| Op::Record(verdict, took, hint)),
        1 => Just(Op::Release),
        2 => Just(Op::Advance),
        3 => instant().prop_map(Op::At),
        1 => (instant(), count()).prop_map(|(until, doublings)| Op::Restore(until, doublings)),
        1 => Just(Op::Isolate),
        1 => Just(Op::LetGo),
        1 => Just(Op::Reset),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn spans_and_instants_saturate_and_keep_their_order(a in ms(), b in ms(), part in (whole(), whole()), at in ms()) {
        let (x, y) = (Span::from_ms(a), Span::from_ms(b));
        if a < b {
            prop_assert!(x <= y);
        }
        prop_assert!(x + y >= x.max(y) && x - y <= x && x.double() >= x && x.tenth() <= x);
        prop_assert!(x.round_up(y) >= x);
        prop_assert!(x.part(part.0, part.1.max(1)) <= Span::MAX);
        prop_assert!(x.as_ms() >= 0.0);
        let from = Instant::from_ms(at);
        prop_assert!(from + x >= from && from - x <= from);
        prop_assert!((from + x) - from >= x.min(Instant::NEVER - from) || from + x == Instant::NEVER);
        if y > Span::ZERO {
            prop_assert!(from.slice(y) <= (from + x).slice(y));
            prop_assert!(Span::ZERO.in_steps(y) <= x.in_steps(y));
        }
        prop_assert_eq!(from.slice(Span::ZERO), from.slice(Span::from_ms(0.001)));
    }

    #[test]
    fn the_clock_never_runs_back_whatever_it_reads(start in (ms(), ms()), reads in prop::collection::vec((ms(), ms()), 1..20)) {
        let mut clock = Clock::new(start.0, start.1);
        let mut last = Instant::default();
        for (mono, wall) in reads {
            let now = clock.read(mono, wall);
            prop_assert!(now >= last);
            last = now;
            prop_assert!(clock.wall_ms(now) >= 0.0);
            prop_assert!(clock.wall_ms(now) <= clock.wall_ms(now + Span::from_ms(1.0)));
            prop_assert!(clock.wall_ms(Instant::NEVER).is_infinite());
        }
    }

    #[test]
    fn any_retry_of_any_policy_has_a_wait_within_its_bounds(
        spans in (span(), span(), span()),
        factor in prop_oneof![prop::sample::select(vec![f64::MIN_POSITIVE, 0.5, 1.0, 1.0 + f64::EPSILON, 2.0, f64::MAX]), 0.0..10.0],
        jitter in jitter(),
        n in count(),
        previous in prop::option::of(span()),
        seed: u64,
    ) {
        let (delay, backoff_limit, width) = spans;
        let retry = Retry { delay, factor, backoff_limit, jitter, ..Retry::default() };
        let mut rng = Rng::new(seed);
        let wait = |n, rng: &mut Rng| backoff::wait(&retry, n, previous, rng);
        // Halves of an odd number of microseconds are rounded.
        let microsecond = Span::from_ms(0.001);
        prop_assert!(wait(n, &mut rng) <= backoff_limit + microsecond);
        if jitter == Jitter::None && factor >= 1.0 {
            let waits = [0, n / 2, n.saturating_sub(1), n, u32::MAX].map(|n| wait(n, &mut rng));
            prop_assert!(waits.is_sorted(), "{:?}", waits);
        }
        prop_assert!(backoff::spread(width, jitter, &mut rng) <= width);
    }

    #[test]
    fn a_circuit_of_any_policy_stands_any_numbers(
        policy in breaker(),
        ops in prop::collection::vec(op(), 1..40),
        seed: u64,
    ) {
        let mut rng = Rng::new(seed);
        let mut breaker = Breaker::new(policy);
        let mut now = Instant::default();
        let mut out = Vec::new();
        for op in ops {
            let (before, epoch) = (breaker.status(), breaker.epoch());
            match op {
                Op::Admit(click, lease) => out.extend(breaker.admit(policy, lease, click, now)),
                Op::Record(verdict, took, hint) => {
                    if let Some(token) = out.pop() {
                        breaker.record(token, verdict, took, hint, now, &mut rng);
                        if let (true, Status::Open(until)) = (breaker.epoch() > epoch, breaker.status()) {
                            let least = policy.half_open_after.max(hint.min(Span::LONGEST));
                            // The draw is in whole milliseconds.
                            let most = policy.half_open_after.max(policy.max_open).max(hint) + Span::from_ms(1.0);
                            prop_assert!(until == now + least || before != Status::Closed);
                            prop_assert!(until >= now + least && until <= now + most);
                        }
                    }
                }
                Op::Release => {
                    if let Some(token) = out.pop() {
                        breaker.release(token);
                    }
                }
                Op::Advance => breaker.advance(now, &mut rng),
                Op::At(at) => now = now.max(at),
                Op::Restore(until, doublings) => breaker.restore(until, doublings, None),
                Op::Isolate => breaker.isolate(),
                Op::LetGo => breaker.let_go(),
                Op::Reset => breaker.reset(),
            }
            let view = breaker.view(now);
            prop_assert!((0.0..=1.0).contains(&view.failure_rate));
            prop_assert!(breaker.epoch() - epoch <= 1);
        }
    }

    #[test]
    fn a_bucket_of_any_policy_stays_within_its_bounds(
        (capacity, ratio, milli) in (whole(), whole(), whole()),
        small: bool,
        age in span(),
        times in prop::collection::vec((instant(), 0_u8..3), 1..20),
        seed: u64,
    ) {
        let fleet = if small { Fleet::Small } else { Fleet::Large };
        let policy = Budget { capacity, ratio, fleet };
        let mut rng = Rng::new(seed);
        for mut bucket in [
            Bucket::new(&policy, Instant::default(), &mut rng),
            Bucket::restored(milli, age, &policy, Instant::default()),
        ] {
            for &(at, what) in &times {
                let before = bucket.refill(&policy, at);
                prop_assert!(before <= capacity);
                match what {
                    0 => {
                        bucket.charge(&policy, at);
                        prop_assert_eq!(bucket.left(), before.saturating_sub(Budget::TOKEN));
                    }
                    1 => {
                        bucket.credit(&policy, at);
                        prop_assert_eq!(bucket.left(), before.saturating_add(ratio).min(capacity));
                    }
                    _ => prop_assert_eq!(bucket.allows(&policy, at), before > capacity / 2),
                }
                prop_assert!(bucket.left() <= capacity);
            }
        }
    }

    #[test]
    fn a_crowd_of_any_size_goes_in_order_and_in_time((queue, others) in (count(), count()), at in instant(), index in count()) {
        let Some(mut ramp) = Ramp::new(queue, others, at) else {
            prop_assert!(queue.saturating_add(others) < 2);
            return Ok(());
        };
        let end = at + Span::from_secs(10);
        let moments = [0, index / 2, index.saturating_sub(1), index, u32::MAX].map(|index| ramp.moment(index));
        prop_assert!(moments.is_sorted() && moments[0] == at && moments[4] <= end);
        prop_assert!(ramp.take() <= ramp.take());
        prop_assert!(ramp.next() <= end);
        ramp.go();
        prop_assert!(at == Instant::NEVER || end == Instant::NEVER || ramp.is_over(end) && !ramp.is_over(at));
    }

    #[test]
    fn a_hint_of_any_number_at_any_time_is_a_hint_or_none(
        number in prop_oneof![whole().prop_map(|n| n.to_string()), "[0-9]{1,40}"],
        year in 0_u32..10_000,
        wall in ms(),
        now in -62_167_219_200_i64..=253_402_300_799,
    ) {
        let dates = [
            format!("Sun, 06 Nov {year:04} 08:49:37 GMT"),
            format!("Sunday, 06-Nov-{:02} 08:49:37 GMT", year % 100),
            format!("Sun Nov  6 08:49:37 {year:04}"),
        ];
        for date in &dates {
            prop_assert!(http_date(date.as_bytes(), now).is_some());
            for timing in [
                Timing { retry_after: Some(&number), ..Timing::default() },
                Timing { retry_after: Some(date), ..Timing::default() },
                Timing { rate_limit_reset: Some(&number), date: Some(date), ..Timing::default() },
                Timing { x_rate_limit_reset: Some(&number), date: Some(date), aged: true, ..Timing::default() },
            ] {
                prop_assert!(Hint::read(&timing, wall).is_none_or(|hint| hint.wait > Span::ZERO));
            }
        }
    }
}

// ------------------------------------------------------------ what can be written down

#[test]
fn two_to_the_thirty_two_retries_wait_no_longer_than_the_limit() {
    let retry = Retry { jitter: Jitter::None, ..Retry::default() };
    let mut rng = Rng::new(1);
    for n in [31, 32, 63, 64, 1_023, 1_024, u32::MAX - 1, u32::MAX] {
        assert_eq!(backoff::wait(&retry, n, None, &mut rng), retry.backoff_limit);
    }
}

#[test]
fn an_outcome_counts_up_to_the_last_microsecond_of_its_window() {
    let window = Span::from_secs(10);
    let policy = policy::Breaker { window, consecutive_failures: 0, ..policy::Breaker::default() };
    // The slice in which it came is the oldest of ten for its last time.
    for (begins, gone) in [(0.0, 10_000.0), (999.999, 10_000.0), (1_000.0, 11_000.0)] {
        let mut breaker = Breaker::new(policy);
        let at = Instant::from_ms(begins);
        let token = breaker.admit(policy, Span::ZERO, false, at).unwrap();
        breaker.record(token, Verdict::Failure, Span::ZERO, Span::ZERO, at, &mut Rng::new(1));
        let calls = |ms| breaker.view(Instant::from_ms(ms)).calls;
        assert_eq!((calls(gone - 0.001), calls(gone)), (1, 0), "{begins}");
    }
}

#[test]
fn a_window_at_the_end_of_all_time_still_counts() {
    let policy = policy::Breaker { consecutive_failures: 0, minimum_calls: 2, ..policy::Breaker::default() };
    for window in [Span::ZERO, Span::from_ms(0.001), Span::from_ms(0.01), Span::from_secs(30), Span::MAX] {
        let policy = policy::Breaker { window, ..policy };
        let mut breaker = Breaker::new(policy);
        for at in [Instant::NEVER - Span::from_ms(0.001), Instant::NEVER, Instant::NEVER] {
            let Ok(token) = breaker.admit(policy, Span::MAX, false, at) else { continue };
            breaker.record(token, Verdict::Failure, Span::MAX, Span::MAX, at, &mut Rng::new(1));
        }
        assert_eq!(breaker.status(), Status::Open(Instant::NEVER));
    }
}

#[test]
fn doublings_stop_at_the_longest_open_time_and_a_restored_one_at_its_bound() {
    let policy = policy::Breaker { max_open: Span::MAX, ..policy::Breaker::default() };
    for doublings in [0, 1, 63, 64, 65, u32::MAX] {
        let mut breaker = Breaker::new(policy);
        let mut rng = Rng::new(1);
        breaker.restore(Instant::default(), doublings, Some(Reason::Consecutive));
        for _ in 0..200 {
            let now = Instant::default();
            let token = breaker.admit(policy, Span::ZERO, true, now).unwrap();
            breaker.record(token, Verdict::Failure, Span::ZERO, Span::ZERO, now, &mut rng);
            let Some((until, kept, _)) = breaker.kept(now) else { panic!("it is open") };
            assert!(until >= now + policy.half_open_after && kept <= 65, "{kept}");
        }
    }
}

/// Fails where it does not come to its end; a hang has no other sign.
fn ends(act: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        act();
        let _ = done.send(());
    });
    let ended = wait.recv_timeout(Duration::from_secs(20));
    assert!(ended != Err(mpsc::RecvTimeoutError::Timeout), "it hangs");
    thread.join().unwrap();
}

#[test]
fn a_countdown_without_end_does_not_tick() {
    ends(|| {
        let mut sim = Sim::new(1);
        let forever = plan(&[status(500), ok()]).with(|p| {
            p.retry.delay = Span::MAX;
            p.retry.backoff_limit = Span::MAX;
        });
        let (call, slot) = sim.start(forever);
        sim.input(slot, Input::Watch(true));
        assert_eq!(sim.engine.next_timeout(), None);
        sim.run_until(10_000.0);
        let last = sim.traces[call].states.last();
        assert!(matches!(last, Some((0.0, _, View::Waiting { until: Instant::NEVER, .. }))));
        assert!(sim.input(slot, Input::RetryNow));
        sim.run();
        assert_eq!(sim.traces[call].sent, [0.0, 10_000.0]);
    });
}

#[test]
fn a_circuit_that_is_open_for_ever_does_not_tick_and_lets_a_click_through() {
    ends(|| {
        let forever = policy::Breaker {
            consecutive_failures: 1,
            half_open_after: Span::MAX,
            ..policy::Breaker::default()
        };
        let one = |step| plan(&[step]).with(|p| p.retry.limit = 0).behind("a", forever);
        let mut sim = Sim::new(1);
        sim.engine.set_observed(true);
        sim.start(one(status(500)));
        sim.run_until(1_000.0);
        let (call, slot) = sim.start(one(ok()).with(|p| p.on_circuit_open = OnCircuitOpen::Wait));
        sim.input(slot, Input::Watch(true));
        sim.run_until(100_000.0);
        assert_eq!(sim.circuit("a").unwrap().status, Status::Open(Instant::NEVER));
        assert!(sim.input(slot, Input::RetryNow));
        sim.run();
        assert_eq!(sim.traces[call].sent, [100_000.0]);
    });
}

#[test]
fn limits_of_time_that_are_infinite_are_none() {
    ends(|| {
        let mut sim = Sim::new(1);
        let patient = plan(&[Step::RetryAfter(503, f64::INFINITY), ok()]).with(|p| {
            p.timeout = Some(Span::MAX);
            p.total_timeout = Some(Span::MAX);
            p.retry.max_retry_after = Span::MAX;
        });
        let (call, slot) = sim.start(patient);
        sim.input(slot, Input::Watch(true));
        sim.run_until(1e9);
        assert_eq!(sim.traces[call].end, None);
        assert!(sim.input(slot, Input::Cancel));
        assert_eq!(sim.engine.next_timeout(), None);
    });
}
