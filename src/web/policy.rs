//! Reads a policy from numbers, which `pkg-template/src/options.ts` has looked at and put into this order. NaN is the
//! default.

use crate::core::policy::{
    Breaker, Budget, Covers, Fleet, Jitter, Methods, OnCircuitOpen, OnExhausted, OnOffline, Policy, Statuses,
};
use crate::core::time::Span;

/// As a whole number that saturates, which takes some room and so is in one place.
#[inline(never)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// The same, of 32 bits.
pub fn count(number: f64) -> u32 {
    whole(number).min(u32::MAX.into()) as u32
}

/// How many numbers there are before the statuses.
pub const NUMBERS: usize = 33;

struct Numbers<'a>(core::slice::Iter<'a, f64>);

impl Numbers<'_> {
    /// The next one, unless it is to be the default.
    fn next(&mut self) -> Option<f64> {
        self.0.next().copied().filter(|number| !number.is_nan())
    }

    fn float(&mut self, into: &mut f64) {
        if let Some(number) = self.next() {
            *into = number;
        }
    }

    /// Too many is without limit.
    fn count(&mut self, into: &mut u32) {
        if let Some(number) = self.next() {
            *into = count(number);
        }
    }

    fn span(&mut self, into: &mut Span) {
        if let Some(ms) = self.next() {
            *into = Span::from_ms(ms);
        }
    }

    /// Infinite is none.
    fn limit(&mut self, into: &mut Option<Span>) {
        if let Some(ms) = self.next() {
            *into = Some(Span::from_ms(ms)).filter(|span| *span != Span::MAX);
        }
    }

    fn tokens(&mut self, into: &mut u64) {
        if let Some(number) = self.next() {
            *into = whole(number * Budget::TOKEN as f64);
        }
    }

    fn flag(&mut self, into: &mut bool) {
        self.word(into, &[false, true]);
    }

    fn word<T: Copy>(&mut self, into: &mut T, meanings: &[T]) {
        if let Some(meaning) = self.next().and_then(|number| meanings.get(whole(number) as usize)) {
            *into = *meaning;
        }
    }
}

/// `statuses` and `methods` are those of the caller's, if there are any; methods in lines.
pub fn read(numbers: &[f64], statuses: Option<&[f64]>, methods: Option<&str>) -> Policy {
    let mut policy = Policy::default();
    let mut read = Numbers(numbers.iter());
    let retry = &mut policy.retry;
    read.count(&mut retry.limit);
    read.span(&mut retry.delay);
    read.float(&mut retry.factor);
    read.span(&mut retry.backoff_limit);
    read.span(&mut retry.min_delay);
    read.word(&mut retry.jitter, &[Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::None]);
    read.span(&mut retry.max_retry_after);
    read.flag(&mut retry.on_timeout);
    if let Some(statuses) = statuses {
        retry.statuses = Statuses::NONE;
        for status in statuses {
            retry.statuses.add(count(*status) as u16);
        }
    }
    if let Some(methods) = methods {
        retry.methods = Methods::Only(methods.split('\n').map(Into::into).collect());
    }
    read.limit(&mut policy.timeout);
    read.limit(&mut policy.total_timeout);
    read.word(&mut policy.covers, &[Covers::Headers, Covers::Body]);
    read.word(&mut policy.on_circuit_open, &[OnCircuitOpen::Reject, OnCircuitOpen::Wait]);
    read.word(&mut policy.on_offline, &[OnOffline::Wait, OnOffline::Reject, OnOffline::Ignore]);
    read.word(&mut policy.on_exhausted, &[OnExhausted::Settle, OnExhausted::Hold]);
    read.flag(&mut policy.throw_http_errors);
    read.limit(&mut policy.tick);

    let mut on = true;
    read.flag(&mut on);
    let mut breaker = Breaker::default();
    read.count(&mut breaker.consecutive_failures);
    read.float(&mut breaker.failure_rate);
    read.count(&mut breaker.minimum_calls);
    read.span(&mut breaker.window);
    read.limit(&mut breaker.slow_call_duration);
    read.float(&mut breaker.slow_call_rate);
    read.span(&mut breaker.half_open_after);
    read.span(&mut breaker.max_open);
    read.count(&mut breaker.half_open_probes);
    read.count(&mut breaker.half_open_successes);
    read.limit(&mut breaker.probe_lease);
    read.flag(&mut breaker.shared);
    policy.breaker = on.then_some(breaker);

    on = true;
    read.flag(&mut on);
    let mut budget = Budget::default();
    read.tokens(&mut budget.capacity);
    read.tokens(&mut budget.ratio);
    read.word(&mut budget.fleet, &[Fleet::Small, Fleet::Large]);
    policy.budget = on.then_some(budget);
    policy
}
