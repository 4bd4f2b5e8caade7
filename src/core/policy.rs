//! The validated options of a call. They come in checked.

use super::time::Span;

/// How a wait is spread, so that clients do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jitter {
    /// `U(0, v)`.
    Full,
    /// `v/2 + U(0, v/2)`.
    Equal,
    /// `min(limit, U(delay, 3 * previous))`.
    Decorrelated,
    /// Exactly `v`.
    None,
}

/// The methods that may be sent again; byte-exact, as `Request.method` gives them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Methods {
    /// The idempotent methods of RFC 9110 9.2.2 and QUERY.
    Idempotent,
    /// A list of the caller's.
    Only(Vec<Box<str>>),
}

impl Methods {
    /// Whether `method` may be sent again.
    pub fn contains(&self, method: &str) -> bool {
        match self {
            Self::Idempotent => {
                matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE" | "QUERY")
            }
            Self::Only(list) => list.iter().any(|m| **m == *method),
        }
    }
}

/// A set of HTTP statuses from 0 to 639.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Statuses([u64; 10]);

impl Statuses {
    /// No status.
    pub const NONE: Self = Self([0; 10]);

    /// Adds one status; false if no such status can be.
    pub fn add(&mut self, status: u16) -> bool {
        match self.0.get_mut(usize::from(status / 64)) {
            Some(word) if status >= 100 => {
                *word |= 1 << (status % 64);
                true
            }
            _ => false,
        }
    }

    /// Adds 500 to 599.
    pub fn add_5xx(&mut self) {
        for status in 500..600 {
            self.add(status);
        }
    }

    /// Whether `status` is in the set.
    pub fn contains(&self, status: u16) -> bool {
        self.0.get(usize::from(status / 64)).is_some_and(|word| word >> (status % 64) & 1 == 1)
    }
}

impl Default for Statuses {
    /// 408, 425, 429 and every 5xx but those that say that trying again does not help.
    fn default() -> Self {
        let mut set = Self::NONE;
        for status in [408, 425, 429] {
            set.add(status);
        }
        for status in 500..600 {
            if !matches!(status, 501 | 505..=508 | 510 | 511) {
                set.add(status);
            }
        }
        set
    }
}

/// What is retried and how long the waits are.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// Retries after the first attempt; `u32::MAX` is without limit.
    pub limit: u32,
    /// Methods that may be sent again without an idempotency key.
    pub methods: Methods,
    /// Statuses that another attempt may mend.
    pub statuses: Statuses,
    /// The base of the exponential.
    pub delay: Span,
    /// Its growth per retry.
    pub factor: f64,
    /// The ceiling of one wait, applied before the jitter.
    pub backoff_limit: Span,
    /// The floor of one wait.
    pub min_delay: Span,
    /// How waits are spread.
    pub jitter: Jitter,
    /// A longer hint of the server ends the call.
    pub max_retry_after: Span,
    /// Whether an attempt that timed out may be retried.
    pub on_timeout: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            limit: 4,
            methods: Methods::Idempotent,
            statuses: Statuses::default(),
            delay: Span::from_ms(250.0),
            factor: 2.0,
            backoff_limit: Span::from_ms(8_000.0),
            min_delay: Span::ZERO,
            jitter: Jitter::Full,
            max_retry_after: Span::from_ms(60_000.0),
            on_timeout: true,
        }
    }
}

/// When a circuit opens, and how it closes again (semantics 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breaker {
    /// Failures in a row that open it; zero switches the rule off.
    pub consecutive_failures: u32,
    /// Share of failures in the window that opens it.
    pub failure_rate: f64,
    /// Outcomes in the window before the shares count.
    pub minimum_calls: u32,
    /// Length of the sliding window.
    pub window: Span,
    /// An answer slower than this is slow; `None` switches the rule off.
    pub slow_call_duration: Option<Span>,
    /// Share of slow answers that opens it.
    pub slow_call_rate: f64,
    /// The first open time.
    pub half_open_after: Span,
    /// The open time doubles up to this.
    pub max_open: Span,
    /// Probes at the same time.
    pub half_open_probes: u32,
    /// Successes that close it.
    pub half_open_successes: u32,
    /// A probe unsettled for this long is given up; `None` derives it from the attempt timeout.
    pub probe_lease: Option<Span>,
    /// The tabs of the origin have it together.
    pub shared: bool,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            consecutive_failures: 5,
            failure_rate: 0.5,
            minimum_calls: 10,
            window: Span::from_ms(30_000.0),
            slow_call_duration: None,
            slow_call_rate: 1.0,
            half_open_after: Span::from_ms(30_000.0),
            max_open: Span::from_ms(120_000.0),
            half_open_probes: 1,
            half_open_successes: 1,
            probe_lease: None,
            shared: false,
        }
    }
}

/// How many clients there are of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fleet {
    /// So few that what one of them does is no load.
    Small,
    /// So many that all of them together must be kept in mind.
    Large,
}

/// When retries are refused for all that fails (semantics 7). Tokens are counted in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// The most tokens there can be.
    pub capacity: u64,
    /// What the success of a first attempt gives back.
    pub ratio: u64,
    /// How many share the server.
    pub fleet: Fleet,
}

impl Budget {
    /// One token.
    pub const TOKEN: u64 = 1_000;

    /// A retry is allowed while there are more tokens than this.
    pub const fn bound(&self) -> u64 {
        self.capacity / 2
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { capacity: 10 * Self::TOKEN, ratio: Self::TOKEN / 10, fleet: Fleet::Small }
    }
}

/// What belongs to an attempt: timed, and retried when it breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Covers {
    /// Up to the response headers.
    Headers,
    /// The whole body too.
    Body,
}

/// What a call does that its circuit refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnCircuitOpen {
    /// Ends at once.
    Reject,
    /// Waits for its turn.
    Wait,
}

/// What a call does while the browser says that it is offline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnOffline {
    /// Waits.
    Wait,
    /// Ends at once.
    Reject,
    /// Does not believe it.
    Ignore,
}

/// What becomes of the promise of an exhausted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnExhausted {
    /// Settles.
    Settle,
    /// Stays pending until `retry()` or `cancel()`.
    Hold,
}

/// Everything the core needs to know of a call's options.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// What is retried, and when.
    pub retry: Retry,
    /// Limit of one attempt.
    pub timeout: Option<Span>,
    /// Limit of all attempts and waits of a run together.
    pub total_timeout: Option<Span>,
    /// What the attempt limit covers.
    pub covers: Covers,
    /// The circuit breaker, unless switched off.
    pub breaker: Option<Breaker>,
    /// The retry budget, unless switched off.
    pub budget: Option<Budget>,
    /// What a refused call does.
    pub on_circuit_open: OnCircuitOpen,
    /// What a call does offline.
    pub on_offline: OnOffline,
    /// What an exhausted call does.
    pub on_exhausted: OnExhausted,
    /// An HTTP failure rejects instead of resolving with its response.
    pub throw_http_errors: bool,
    /// Step of the countdown, unless switched off.
    pub tick: Option<Span>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            retry: Retry::default(),
            timeout: Some(Span::from_ms(30_000.0)),
            total_timeout: None,
            covers: Covers::Headers,
            breaker: Some(Breaker::default()),
            budget: Some(Budget::default()),
            on_circuit_open: OnCircuitOpen::Reject,
            on_offline: OnOffline::Wait,
            on_exhausted: OnExhausted::Settle,
            throw_http_errors: false,
            tick: Some(Span::from_ms(1_000.0)),
        }
    }
}

impl Policy {
    /// How long a probe may stay unsettled: as told, else the attempt's limit and 5 s, else 30 s.
    pub fn probe_lease(&self, breaker: &Breaker) -> Span {
        breaker.probe_lease.unwrap_or_else(|| match self.timeout {
            Some(timeout) => timeout + Span::from_ms(5_000.0),
            None => Span::from_ms(30_000.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_statuses_are_those_that_time_may_mend() {
        let set = Statuses::default();
        let retried: Vec<u16> = (0..=700).filter(|&s| set.contains(s)).collect();
        let mut expected: Vec<u16> = vec![408, 425, 429];
        expected.extend((500..600).filter(|s| ![501, 505, 506, 507, 508, 510, 511].contains(s)));
        assert_eq!(retried, expected);
    }

    #[test]
    fn a_set_takes_only_what_can_be_a_status() {
        let mut set = Statuses::NONE;
        assert!(!set.add(0) && !set.add(99) && !set.add(640) && !set.add(u16::MAX));
        assert!(set.add(100) && set.add(599) && set.contains(100) && set.contains(599));
    }

    #[test]
    fn methods_are_compared_byte_for_byte() {
        assert!(Methods::Idempotent.contains("PUT"));
        for other in ["put", "POST", "PATCH", "patch", ""] {
            assert!(!Methods::Idempotent.contains(other));
        }
        assert!(Methods::Only(vec!["patch".into()]).contains("patch"));
        assert!(!Methods::Only(vec!["patch".into()]).contains("PATCH"));
    }

    #[test]
    fn a_probe_has_as_long_as_it_is_told_or_a_little_longer_than_its_attempt() {
        let lease = |probe_lease, timeout: Option<u64>| {
            let timeout = timeout.map(Span::from_secs);
            let breaker = Breaker { probe_lease, ..Breaker::default() };
            Policy { timeout, ..Policy::default() }.probe_lease(&breaker)
        };
        assert_eq!(lease(Some(Span::from_secs(2)), Some(10)), Span::from_secs(2));
        assert_eq!(lease(None, Some(10)), Span::from_secs(15));
        assert_eq!(lease(None, None), Span::from_secs(30));
    }
}
