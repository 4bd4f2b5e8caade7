//! A throttle for retries, one bucket per circuit key (semantics 7), after gRPC's retry throttling (gRFC A6): when too
//! much fails, retries are refused before they become the load that keeps the server down. It never waits.

use super::policy::{Budget, Fleet};
use super::rng::Rng;
use super::time::{Instant, Span};

/// The tokens of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// In thousandths.
    milli: u64,
    /// When it was last refilled.
    filled: Instant,
}

impl Bucket {
    /// A small fleet gives back a thousandth of a token in this time, a whole one in 10 s.
    const STEP: Span = Span::from_ms(10.0);

    /// In a small fleet a bucket starts full. In a large one, where buckets that start full would be no limit at all,
    /// it starts at the bound, and one client in four may make one retry: a total outage adds at most a quarter.
    pub fn new(policy: &Budget, now: Instant, rng: &mut Rng) -> Self {
        let milli = match policy.fleet {
            Fleet::Small => policy.capacity,
            // The failure before the retry costs the first of the two.
            Fleet::Large if rng.unit() < 0.25 => policy.bound().saturating_add(2 * Budget::TOKEN),
            Fleet::Large => policy.bound(),
        };
        Self { milli: milli.min(policy.capacity), filled: now }
    }

    /// A bucket that had so many thousandths left some time ago.
    pub fn restored(milli: u64, age: Span, policy: &Budget, now: Instant) -> Self {
        let steps = match policy.fleet {
            Fleet::Small => age.in_steps(Self::STEP),
            Fleet::Large => 0,
        };
        Self { milli: milli.saturating_add(steps).min(policy.capacity), filled: now }
    }

    /// What was left when it was last refilled, in thousandths.
    pub const fn left(&self) -> u64 {
        self.milli
    }

    /// When it was last refilled.
    pub const fn filled(&self) -> Instant {
        self.filled
    }

    /// Lets time pass; gives what is left, in thousandths.
    pub fn refill(&mut self, policy: &Budget, now: Instant) -> u64 {
        if policy.fleet == Fleet::Small {
            let steps = now.slice(Self::STEP).saturating_sub(self.filled.slice(Self::STEP));
            self.milli = self.milli.saturating_add(steps);
        }
        self.filled = now;
        self.milli = self.milli.min(policy.capacity);
        self.milli
    }

    /// A failure that another attempt might mend costs one token.
    pub fn charge(&mut self, policy: &Budget, now: Instant) {
        self.milli = self.refill(policy, now).saturating_sub(Budget::TOKEN);
    }

    /// A first attempt that succeeds gives back a share of one.
    pub fn credit(&mut self, policy: &Budget, now: Instant) {
        self.milli = self.refill(policy, now).saturating_add(policy.ratio).min(policy.capacity);
    }

    /// What other tabs have spent or earned.
    pub fn shift(&mut self, by: i64, policy: &Budget, now: Instant) {
        self.milli = self.refill(policy, now).saturating_add_signed(by).min(policy.capacity);
    }

    /// No more is left than another tab knows of.
    pub fn limit(&mut self, milli: u64, policy: &Budget, now: Instant) {
        self.milli = self.refill(policy, now).min(milli);
    }

    /// Whether a retry is allowed.
    pub fn allows(&mut self, policy: &Budget, now: Instant) -> bool {
        self.refill(policy, now) > policy.bound()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: f64) -> Instant {
        Instant::from_ms(ms)
    }

    fn retries(bucket: &mut Bucket, policy: &Budget, now: Instant) -> u32 {
        let mut retries = 0;
        loop {
            bucket.charge(policy, now);
            if !bucket.allows(policy, now) || retries == 1_000 {
                return retries;
            }
            retries += 1;
        }
    }

    #[test]
    fn a_lone_call_may_make_its_four_retries_from_a_full_bucket() {
        let policy = Budget::default();
        let mut bucket = Bucket::new(&policy, at(0.0), &mut Rng::new(1));
        assert_eq!(retries(&mut bucket, &policy, at(0.0)), 4);
        assert_eq!(retries(&mut bucket, &policy, at(0.0)), 0);
    }

    #[test]
    fn a_small_fleet_gets_one_token_in_ten_seconds_however_often_it_looks() {
        let policy = Budget::default();
        for looks in [1_u32, 7, 3_000] {
            let mut bucket = Bucket { milli: 0, filled: at(0.0) };
            for look in 1..=looks {
                bucket.refill(&policy, at(10_000.0 * f64::from(look) / f64::from(looks)));
            }
            assert_eq!(bucket.refill(&policy, at(10_000.0)), Budget::TOKEN, "{looks} looks");
            assert_eq!(bucket.refill(&policy, at(10_000_000.0)), policy.capacity);
        }
    }

    #[test]
    fn a_bucket_of_a_small_fleet_is_restored_with_what_it_would_have_got_meanwhile() {
        for (fleet, left) in [(Fleet::Small, 200 + Budget::TOKEN), (Fleet::Large, 200)] {
            let policy = Budget { fleet, ..Budget::default() };
            assert_eq!(Bucket::restored(200, Span::from_secs(10), &policy, at(0.0)).left(), left);
        }
    }

    #[test]
    fn a_large_fleet_adds_at_most_a_quarter_and_gets_nothing_for_waiting() {
        let policy = Budget { fleet: Fleet::Large, ..Budget::default() };
        let mut rng = Rng::new(3);
        let mut total = 0;
        for _ in 0..40_000 {
            let mut bucket = Bucket::new(&policy, at(0.0), &mut rng);
            let retries = retries(&mut bucket, &policy, at(1e9));
            assert!(retries <= 1);
            total += retries;
        }
        assert!((9_700..10_300).contains(&total), "{total}");
    }

    #[test]
    fn ten_first_successes_pay_for_one_retry() {
        let policy = Budget { fleet: Fleet::Large, ..Budget::default() };
        let mut bucket = Bucket { milli: policy.bound(), filled: at(0.0) };
        for paid in 0..11 {
            assert!(!bucket.allows_after_a_failure(&policy), "{paid}");
            bucket.credit(&policy, at(0.0));
        }
        assert!(bucket.allows_after_a_failure(&policy));
    }

    #[test]
    fn no_arithmetic_at_the_edges_wraps() {
        let widest = Budget { capacity: u64::MAX, ratio: u64::MAX, fleet: Fleet::Small };
        let mut bucket = Bucket::new(&widest, at(0.0), &mut Rng::new(1));
        bucket.credit(&widest, Instant::NEVER);
        bucket.charge(&widest, at(0.0));
        assert!(bucket.allows(&widest, at(0.0)));
        let none = Budget { capacity: 0, ratio: 0, fleet: Fleet::Large };
        let mut bucket = Bucket::new(&none, at(0.0), &mut Rng::new(1));
        bucket.charge(&none, at(0.0));
        assert!(!bucket.allows(&none, Instant::NEVER));
    }

    impl Bucket {
        fn allows_after_a_failure(mut self, policy: &Budget) -> bool {
            self.charge(policy, at(0.0));
            self.allows(policy, at(0.0))
        }
    }
}
