//! The rules of others, by their documentation, with numbers written out: the same trace gives the same decision, or
//! the test says why it does not.

use steadfetch::core::breaker::{Breaker, Status, Token, Verdict};
use steadfetch::core::budget::Bucket;
use steadfetch::core::policy::{self, Budget, Fleet};
use steadfetch::core::rng::Rng;
use steadfetch::core::time::{Instant, Span};

/// No rule opens it.
fn none() -> policy::Breaker {
    policy::Breaker {
        consecutive_failures: 0,
        minimum_calls: u32::MAX,
        half_open_after: Span::from_secs(5),
        max_open: Span::from_secs(5),
        ..policy::Breaker::default()
    }
}

struct Circuit {
    breaker: Breaker,
    policy: policy::Breaker,
    now: Instant,
    rng: Rng,
}

impl Circuit {
    fn new(policy: policy::Breaker) -> Self {
        Self { breaker: Breaker::new(policy), policy, now: Instant::default(), rng: Rng::new(1) }
    }

    fn at(&mut self, secs: f64) -> &mut Self {
        self.now = Instant::from_ms(secs * 1_000.0);
        self.breaker.advance(self.now, &mut self.rng);
        self
    }

    fn admit(&mut self) -> Option<Token> {
        self.breaker.admit(self.policy, Span::from_secs(60), false, self.now).ok()
    }

    fn record(&mut self, token: Token, verdict: Verdict, secs: f64) {
        let duration = Span::from_ms(secs * 1_000.0);
        self.breaker.record(token, verdict, duration, Span::ZERO, self.now, &mut self.rng);
    }

    /// Which call of the trace opens it, counted from one. `S` and `F` take no time, `L` succeeds after 2.001 s and
    /// `l` after 2 s.
    fn opened_by(&mut self, trace: &str) -> Option<usize> {
        for (index, call) in (1..).zip(trace.chars()) {
            let token = self.admit().expect("it is closed");
            let (verdict, secs) = match call {
                'F' => (Verdict::Failure, 0.0),
                'L' => (Verdict::Success, 2.001),
                'l' => (Verdict::Success, 2.0),
                _ => (Verdict::Success, 0.0),
            };
            self.record(token, verdict, secs);
            if matches!(self.breaker.status(), Status::Open(_)) {
                return Some(index);
            }
        }
        None
    }
}

fn opened_by(policy: policy::Breaker, trace: &str) -> Option<usize> {
    Circuit::new(policy).opened_by(trace)
}

/// resilience4j, "CircuitBreaker": opens when the rate is equal to or greater than the threshold, once the minimum
/// number of calls was recorded; judged after every call.
#[test]
fn resilience4j_failure_rate() {
    let policy = policy::Breaker { minimum_calls: 10, failure_rate: 0.5, ..none() };
    for (trace, opens) in [
        ("FFFFFFFFF", None),
        ("FFFFFFFFFF", Some(10)),
        ("FFFFFFFFFS", Some(10)),
        ("SSSSSFFFFF", Some(10)),
        ("SSSSSSFFFF", None),
        ("SSSSSSFFFFFF", Some(12)),
    ] {
        assert_eq!(opened_by(policy, trace), opens, "{trace}");
    }
}

/// resilience4j, "Time-based sliding window": ten seconds are ten buckets of one second each, and a bucket leaves as a
/// whole.
#[test]
fn resilience4j_time_window() {
    let policy =
        policy::Breaker { minimum_calls: 4, failure_rate: 0.5, window: Span::from_secs(10), ..none() };
    for (last, opens) in [(9.0, true), (9.999, true), (10.0, false)] {
        let mut circuit = Circuit::new(policy);
        assert_eq!(circuit.at(0.9).opened_by("FFF"), None);
        assert_eq!(circuit.at(last).opened_by("F").is_some(), opens, "{last}");
    }
}

/// resilience4j: slow is what takes longer than the threshold; the rate opens it at the threshold, though all succeed.
#[test]
fn resilience4j_slow_calls() {
    let policy = policy::Breaker {
        minimum_calls: 4,
        slow_call_duration: Some(Span::from_secs(2)),
        slow_call_rate: 0.5,
        ..none()
    };
    for (trace, opens) in
        [("llll", None), ("LLL", None), ("SSLL", Some(4)), ("SSSLl", None), ("SSSLLL", Some(6))]
    {
        assert_eq!(opened_by(policy, trace), opens, "{trace}");
    }
}

/// resilience4j waits for all permitted calls of a half-open circuit and compares their rate. Ours opens at the first
/// failed probe on purpose: a browser has few calls, and a probe that fails has told enough.
#[test]
fn resilience4j_half_open_differs() {
    let policy =
        policy::Breaker { consecutive_failures: 1, half_open_probes: 3, half_open_successes: 3, ..none() };
    let mut circuit = Circuit::new(policy);
    assert_eq!(circuit.opened_by("F"), Some(1));
    let probes: Vec<Token> = (0..4).filter_map(|_| circuit.at(5.0).admit()).collect();
    assert_eq!(probes.len(), 3);
    circuit.record(probes[0], Verdict::Failure, 0.0);
    assert!(matches!(circuit.breaker.status(), Status::Open(_)));
}

/// Polly, "Circuit breaker resilience strategy": breaks when the ratio is reached and the throughput of the sampling
/// duration is at least the minimum.
#[test]
fn polly_failure_ratio_and_minimum_throughput() {
    let policy = policy::Breaker { minimum_calls: 8, failure_rate: 0.5, ..none() };
    for (trace, opens) in [
        ("FFFFFFF", None),
        ("FFFFFFFF", Some(8)),
        ("SSSSFFFF", Some(8)),
        ("SSSSSFFF", None),
        ("SSSSSFFFFF", Some(10)),
    ] {
        assert_eq!(opened_by(policy, trace), opens, "{trace}");
    }
    // Polly judges after failures only, and would wait for the next one. Ours judges after every outcome, as
    // resilience4j does: the eighth call is as good a moment to know it.
    assert_eq!(opened_by(policy, "FFFFFFFS"), Some(8));
}

/// Polly: broken for the break duration, then one probe; its success closes, its failure breaks for as long again.
#[test]
fn polly_break_duration() {
    let policy = policy::Breaker { consecutive_failures: 2, ..none() };
    let mut circuit = Circuit::new(policy);
    assert_eq!(circuit.opened_by("FF"), Some(2));
    assert_eq!(circuit.at(4.999).admit(), None);
    let probe = circuit.at(5.0).admit().unwrap();
    assert_eq!(circuit.admit(), None);
    circuit.record(probe, Verdict::Failure, 0.0);
    assert_eq!(circuit.at(9.999).admit(), None);
    let probe = circuit.at(10.0).admit().unwrap();
    circuit.record(probe, Verdict::Success, 0.0);
    assert_eq!(circuit.breaker.status(), Status::Closed);
}

/// gobreaker: trips when consecutive failures are more than five; a success between starts anew.
#[test]
fn gobreaker_ready_to_trip() {
    let policy = policy::Breaker { consecutive_failures: 6, ..none() };
    for (trace, opens) in [("FFFFF", None), ("FFFFFF", Some(6)), ("FFFFFSFFFFF", None), ("FSFFFFFF", Some(8))]
    {
        assert_eq!(opened_by(policy, trace), opens, "{trace}");
    }
}

/// gobreaker: each change of state is a new generation, and results of requests from before it are ignored.
#[test]
fn gobreaker_generations() {
    let policy =
        policy::Breaker { consecutive_failures: 2, half_open_probes: 3, half_open_successes: 3, ..none() };
    let mut circuit = Circuit::new(policy);
    let late: Vec<Token> = (0..3).filter_map(|_| circuit.admit()).collect();
    assert_eq!(circuit.opened_by("FF"), Some(2));
    circuit.record(late[0], Verdict::Success, 0.0);
    assert!(matches!(circuit.breaker.status(), Status::Open(_)), "open does not close");
    // MaxRequests: as many may pass, and as many successes in a row close it.
    let probes: Vec<Token> = (0..9).filter_map(|_| circuit.at(5.0).admit()).collect();
    assert_eq!(probes.len(), 3);
    circuit.record(late[1], Verdict::Failure, 0.0);
    assert_eq!(circuit.breaker.status(), Status::HalfOpen, "half-open does not open");
    for (probe, status) in probes.into_iter().zip([Status::HalfOpen, Status::HalfOpen, Status::Closed]) {
        circuit.record(probe, Verdict::Success, 0.0);
        assert_eq!(circuit.breaker.status(), status);
    }
    circuit.record(late[2], Verdict::Failure, 0.0);
    assert_eq!(circuit.opened_by("F"), None, "the late failure is not the first of two");
}

/// opossum: below `volumeThreshold` requests in the window nothing opens it, whatever failed.
#[test]
fn opossum_volume_threshold() {
    let policy =
        policy::Breaker { minimum_calls: 5, failure_rate: 0.5, window: Span::from_secs(10), ..none() };
    for (trace, opens) in [("FFFF", None), ("FFFFF", Some(5)), ("SSFFF", Some(5)), ("SSSFF", None)] {
        assert_eq!(opened_by(policy, trace), opens, "{trace}");
    }
    // opossum opens above the percentage. Ours opens at it, as resilience4j and Polly do.
    assert_eq!(opened_by(policy, "SSSFFF"), Some(6));
}

/// cockatiel, `SamplingBreaker`: nothing below `minimumRps * duration` calls; opens above the threshold.
#[test]
fn cockatiel_sampling_breaker() {
    // { threshold: 0.2, duration: 10 s, minimumRps: 1 }
    let policy =
        policy::Breaker { minimum_calls: 10, failure_rate: 0.2, window: Span::from_secs(10), ..none() };
    for (trace, opens) in
        [("FFFFFFFFF", None), ("FFFFFFFFFF", Some(10)), ("SSSSSSSSSF", None), ("SSSSSSSFFF", Some(10))]
    {
        assert_eq!(opened_by(policy, trace), opens, "{trace}");
    }
    // cockatiel opens above the threshold only; ours at it.
    assert_eq!(opened_by(policy, "SSSSSSSSFF"), Some(10));
}

/// gRPC, gRFC A6, "Throttling Retry Attempts": `maxTokens` 10, `tokenRatio` 0.1. A failure costs 1, a success gives
/// 0.1; no retry while there are `maxTokens / 2` or less.
#[test]
fn grpc_retry_throttling() {
    // Without the refill by time, which gRPC does not have.
    let policy = Budget { capacity: 10_000, ratio: 100, fleet: Fleet::Large };
    let now = Instant::default();
    let mut bucket = Bucket::restored(policy.capacity, Span::ZERO, &policy, now);
    for (outcome, times, tokens, retries) in [
        ('S', 50, 10_000, true),
        ('F', 4, 6_000, true),
        ('F', 1, 5_000, false),
        ('S', 1, 5_100, true),
        ('F', 1, 4_100, false),
        ('S', 9, 5_000, false),
        ('S', 1, 5_100, true),
        ('F', 20, 0, false),
        ('S', 50, 5_000, false),
        ('S', 1, 5_100, true),
        ('S', 1_000, 10_000, true),
    ] {
        for _ in 0..times {
            if outcome == 'F' { bucket.charge(&policy, now) } else { bucket.credit(&policy, now) }
        }
        assert_eq!((bucket.left(), bucket.allows(&policy, now)), (tokens, retries), "{times} {outcome}");
    }
}
