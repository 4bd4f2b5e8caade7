//! One circuit: closed, open, half-open, isolated (semantics 6).
//!
//! ```text
//!            rule met                       until passes, or a click
//!  Closed ─────────────▶ Open ───────────────────────────────────▶ HalfOpen
//!    ▲                    ▲   a probe fails, or its lease runs out     │
//!    │                    └────────────────────────────────────────────┤
//!    └─────────────────────────────────── enough probes succeed ───────┘
//!  any ── isolate ──▶ Isolated ── let go ──▶ as it was, or as others and time have made it
//! ```
//!
//! Each admission carries a [`Token`] with the epoch in which it was given. Every transition begins a new epoch,
//! so what comes back late changes nothing.

use super::policy;
use super::rng::Rng;
use super::time::{Instant, Span};

/// What an attempt's end means for its circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The server answered, whatever it said.
    Success,
    /// Network failure, attempt timeout, 5xx.
    Failure,
    /// 429: counts for the rate and fails a probe, but not for the run of failures.
    Soft,
}

/// Leave to send one attempt. Goes back by [`Breaker::record`] or [`Breaker::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    epoch: u64,
    /// Which probe it is; zero is none.
    probe: u32,
}

impl Token {
    /// Whether the attempt is a probe of a half-open circuit.
    pub const fn is_probe(self) -> bool {
        self.probe != 0
    }
}

/// Why an attempt is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// When the circuit lets a probe through; `None` while a probe is out or the circuit is isolated.
    pub retry_at: Option<Instant>,
    /// Whether a probe is under way.
    pub probe_in_flight: bool,
}

/// What the circuit is, as told to the outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Attempts pass.
    Closed,
    /// None pass, until then.
    Open(Instant),
    /// Probes pass.
    HalfOpen,
    /// Held open by hand.
    Isolated,
}

/// Why the circuit is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Failures in a row.
    Consecutive,
    /// Share of failures in the window.
    FailureRate,
    /// Share of slow answers in the window.
    SlowRate,
    /// The server's own hint is what keeps it open.
    RetryAfter,
    /// A probe failed or was given up.
    ProbeFailed,
    /// By hand.
    Isolated,
}

/// A circuit as told to the outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// What it is.
    pub status: Status,
    /// Why it is not closed.
    pub reason: Option<Reason>,
    /// Failures in a row.
    pub consecutive_failures: u32,
    /// Outcomes in the window.
    pub calls: u32,
    /// Share of failures among them.
    pub failure_rate: f64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Inner {
    Closed,
    Open { until: Instant },
    HalfOpen { probes: Vec<Probe>, successes: u32 },
}

impl Inner {
    const HALF_OPEN: Self = Self::HalfOpen { probes: Vec::new(), successes: 0 };
}

/// A probe under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Probe {
    number: u32,
    lease: Instant,
}

/// One circuit.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    inner: Inner,
    /// Hands that hold it open, whatever it is beneath them.
    holds: u32,
    policy: policy::Breaker,
    epoch: u64,
    reason: Option<Reason>,
    /// Failures in a row.
    consecutive: u32,
    /// How often the open time was doubled.
    doublings: u32,
    probes_made: u32,
    /// Until when the probe of another tab is waited for.
    elsewhere: Option<Instant>,
    /// Until when other tabs were told to wait for one of this tab.
    promised: Instant,
    window: Window,
}

impl Breaker {
    /// No length of time is longer when it is doubled so often.
    const MOST_DOUBLINGS: u32 = 64;

    /// A closed circuit.
    pub fn new(policy: policy::Breaker) -> Self {
        Self {
            inner: Inner::Closed,
            holds: 0,
            policy,
            epoch: 0,
            reason: None,
            consecutive: 0,
            doublings: 0,
            probes_made: 0,
            elsewhere: None,
            promised: Instant::default(),
            window: Window::default(),
        }
    }

    // ------------------------------------------------------------ what it is

    /// What the circuit is.
    pub const fn status(&self) -> Status {
        if self.holds > 0 { Status::Isolated } else { self.beneath() }
    }

    /// What it is beneath the hands that hold it.
    pub const fn beneath(&self) -> Status {
        match self.inner {
            Inner::Closed => Status::Closed,
            Inner::Open { until } => Status::Open(until),
            Inner::HalfOpen { .. } => Status::HalfOpen,
        }
    }

    /// Whether nothing has changed since that leave was given.
    pub const fn is_current(&self, token: Token) -> bool {
        token.epoch == self.epoch
    }

    /// How often the open time was doubled.
    pub const fn doublings(&self) -> u32 {
        self.doublings
    }

    /// Why it is not closed beneath.
    pub const fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// Counts up with every transition.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Everything that is told of it.
    pub fn view(&self, now: Instant) -> View {
        let sum = self.window.sum(now, self.policy.window);
        let status = match self.status() {
            // Nobody had to look at it until now.
            Status::Open(until) if until <= now => Status::HalfOpen,
            status => status,
        };
        View {
            status,
            reason: if self.holds > 0 { Some(Reason::Isolated) } else { self.reason },
            consecutive_failures: self.consecutive,
            calls: sum.calls,
            failure_rate: sum.share(sum.failures),
        }
    }

    /// When something happens by itself.
    pub fn next_timeout(&self) -> Option<Instant> {
        match &self.inner {
            _ if self.holds > 0 => None,
            Inner::Open { until } => Some(*until),
            Inner::HalfOpen { probes, .. } => {
                probes.iter().map(|probe| probe.lease).chain(self.elsewhere).min()
            }
            Inner::Closed => None,
        }
    }

    /// Why [`admit`](Self::admit) would refuse an attempt with the options of the last one, if it would.
    pub fn refusal(&self, click: bool) -> Option<Refusal> {
        self.refusal_by(&self.policy, click)
    }

    /// The same for an attempt with these options.
    pub fn refusal_by(&self, policy: &policy::Breaker, click: bool) -> Option<Refusal> {
        match &self.inner {
            _ if self.holds > 0 => Some(Refusal { retry_at: None, probe_in_flight: false }),
            Inner::Closed => None,
            Inner::Open { .. } if click => None,
            Inner::Open { until } => Some(Refusal { retry_at: Some(*until), probe_in_flight: false }),
            Inner::HalfOpen { probes, .. } => {
                let full = probes.len() >= policy.half_open_probes as usize || self.elsewhere.is_some();
                full.then_some(Refusal { retry_at: None, probe_in_flight: true })
            }
        }
    }

    // ------------------------------------------------------------ what happens to it

    /// Lets time pass, by one transition at most: open becomes half-open, a probe whose lease ran out is given up as
    /// a failure of that moment, however late that is seen.
    pub fn advance(&mut self, now: Instant, rng: &mut Rng) {
        self.elsewhere = self.elsewhere.filter(|until| *until > now);
        if let (Inner::Open { until }, 1..) = (&self.inner, self.holds)
            && *until <= now
        {
            // Nobody sees that, and no leave is out that it could end.
            self.inner = Inner::HALF_OPEN;
        }
        if let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            match self.inner {
                Inner::Open { .. } => self.half_open(),
                _ => self.open(Reason::ProbeFailed, Span::ZERO, at, rng),
            }
        }
    }

    /// Asks for leave to send an attempt that may take as long as `lease`. A `click` of a person makes an open
    /// circuit half-open. Call [`advance`](Self::advance) first.
    pub fn admit(
        &mut self,
        policy: policy::Breaker,
        lease: Span,
        click: bool,
        now: Instant,
    ) -> Result<Token, Refusal> {
        if policy.window != self.policy.window {
            self.window = Window::default();
        }
        self.policy = policy;
        if let Some(refusal) = self.refusal(click) {
            return Err(refusal);
        }
        if let Inner::Open { .. } = self.inner {
            self.half_open();
        }
        let mut probe = 0;
        if let Inner::HalfOpen { probes, .. } = &mut self.inner {
            self.probes_made = self.probes_made.wrapping_add(1).max(1);
            probe = self.probes_made;
            probes.push(Probe { number: probe, lease: now + lease });
        }
        Ok(Token { epoch: self.epoch, probe })
    }

    /// Takes the outcome of an admitted attempt which took `duration`; `hint` is the server's own minimum.
    pub fn record(
        &mut self,
        token: Token,
        verdict: Verdict,
        duration: Span,
        hint: Span,
        now: Instant,
        rng: &mut Rng,
    ) {
        if token.epoch != self.epoch {
            return;
        }
        let slow = self.policy.slow_call_duration.is_some_and(|limit| duration > limit);
        match verdict {
            Verdict::Success => self.consecutive = 0,
            Verdict::Failure => self.consecutive = self.consecutive.saturating_add(1),
            Verdict::Soft => {}
        }
        match &mut self.inner {
            Inner::Closed => {
                self.window.add(now, self.policy.window, verdict != Verdict::Success, slow);
                if let Some(reason) = self.rule_met(verdict, now) {
                    self.open(reason, hint, now, rng);
                }
            }
            Inner::HalfOpen { probes, successes } => {
                probes.retain(|probe| probe.number != token.probe);
                if verdict == Verdict::Success {
                    *successes = successes.saturating_add(1);
                    if *successes >= self.policy.half_open_successes {
                        self.close();
                    }
                } else {
                    self.open(Reason::ProbeFailed, hint, now, rng);
                }
            }
            // No token of this epoch is out.
            Inner::Open { .. } => {}
        }
    }

    /// Takes back leave that decided nothing: the attempt was cancelled, or never sent.
    pub fn release(&mut self, token: Token) {
        if let Inner::HalfOpen { probes, .. } = &mut self.inner
            && token.epoch == self.epoch
        {
            probes.retain(|probe| probe.number != token.probe);
        }
    }

    /// What has to survive of it, unless it is closed and was never opened again: until when it is open, how often that
    /// time was doubled, and why. A half-open one is open until now: then the next call is its probe.
    pub fn kept(&self, now: Instant) -> Option<(Instant, u32, Option<Reason>)> {
        match self.inner {
            Inner::Open { until } => Some((until, self.doublings, self.reason)),
            Inner::HalfOpen { .. } => Some((now, self.doublings, self.reason)),
            Inner::Closed => None,
        }
    }

    /// Opens a closed circuit as it was [`kept`](Self::kept).
    pub fn restore(&mut self, until: Instant, doublings: u32, reason: Option<Reason>) {
        if matches!(self.status(), Status::Closed) {
            self.follow(Some(until), doublings, reason);
        }
    }

    /// Another tab has a probe out, at most until then.
    pub fn wait_for(&mut self, until: Instant) {
        if let Inner::HalfOpen { .. } = self.inner {
            self.elsewhere = Some(until);
        }
    }

    /// Other tabs are told to wait until then for a probe that is out here.
    pub fn promise(&mut self, until: Instant) {
        self.promised = until;
    }

    /// Until when a tab that has just come had better wait for a probe: for one that is out here no less than `least`.
    pub fn awaited(&self, least: Instant) -> Option<Instant> {
        match &self.inner {
            Inner::HalfOpen { probes, .. } if !probes.is_empty() => Some(self.promised.max(least)),
            _ => self.elsewhere,
        }
    }

    /// Does what another tab has done: opens until then, or closes. What is held by hand does so beneath the hand.
    pub fn follow(&mut self, until: Option<Instant>, doublings: u32, reason: Option<Reason>) {
        match (until, &self.inner) {
            (None, Inner::Closed) => {}
            (None, _) => self.close(),
            (Some(until), _) => {
                self.doublings = doublings.min(Self::MOST_DOUBLINGS);
                self.reason = reason.or(Some(Reason::Consecutive));
                self.enter(Inner::Open { until });
            }
        }
    }

    /// Holds the circuit open by hand; each hold is let go by one [`let_go`](Self::let_go). What is under way decides
    /// nothing any more, and the rest stays as it is beneath.
    pub fn isolate(&mut self) {
        self.holds = self.holds.saturating_add(1);
        if self.holds == 1 {
            if let Inner::HalfOpen { probes, .. } = &mut self.inner {
                probes.clear();
            }
            self.epoch += 1;
        }
    }

    /// Lets one hold go. After the last one the circuit is what it is beneath.
    pub fn let_go(&mut self) {
        if self.holds == 1 {
            self.epoch += 1;
        }
        self.holds = self.holds.saturating_sub(1);
    }

    /// Closes and forgets. A hold by hand stays.
    pub fn reset(&mut self) {
        match self.inner {
            Inner::Closed => self.forget(),
            _ => self.close(),
        }
    }

    // ------------------------------------------------------------ edges

    fn rule_met(&self, verdict: Verdict, now: Instant) -> Option<Reason> {
        let policy = &self.policy;
        if verdict == Verdict::Failure
            && policy.consecutive_failures > 0
            && self.consecutive >= policy.consecutive_failures
        {
            return Some(Reason::Consecutive);
        }
        let sum = self.window.sum(now, policy.window);
        if sum.calls < policy.minimum_calls {
            return None;
        }
        if sum.share(sum.failures) >= policy.failure_rate {
            return Some(Reason::FailureRate);
        }
        let slow_rule = policy.slow_call_duration.is_some() && sum.share(sum.slow) >= policy.slow_call_rate;
        slow_rule.then_some(Reason::SlowRate)
    }

    /// The first open time is exact, so that a countdown is honest. Each failed probe doubles it up to the limit,
    /// and then it is drawn from between the last length and the doubled one.
    fn open(&mut self, reason: Reason, hint: Span, now: Instant, rng: &mut Rng) {
        let policy = &self.policy;
        let length = |doublings| {
            let mut span = policy.half_open_after;
            for _ in 0..doublings {
                span = span.double();
            }
            span.min(policy.max_open.max(policy.half_open_after))
        };
        let current = length(self.doublings);
        let mut span = current;
        if reason == Reason::ProbeFailed {
            let doubled = length(self.doublings + 1);
            if doubled > current {
                self.doublings += 1;
            }
            let low = length(self.doublings.saturating_sub(1));
            let width = length(self.doublings) - low;
            span = low + Span::from_ms((width.as_ms() * rng.unit()).floor());
        }
        self.reason = Some(if hint > span { Reason::RetryAfter } else { reason });
        self.enter(Inner::Open { until: now + span.max(hint.min(Span::LONGEST)) });
    }

    fn half_open(&mut self) {
        self.enter(Inner::HALF_OPEN);
    }

    fn close(&mut self) {
        self.forget();
        self.reason = None;
        self.enter(Inner::Closed);
    }

    fn forget(&mut self) {
        self.consecutive = 0;
        self.doublings = 0;
        self.window = Window::default();
    }

    fn enter(&mut self, inner: Inner) {
        self.inner = inner;
        self.elsewhere = None;
        self.promised = Instant::default();
        self.epoch += 1;
    }
}

/// Outcomes of the last while, in ten buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Window {
    buckets: [Counts; Window::BUCKETS],
    /// The slice of time of the newest bucket.
    newest: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Counts {
    calls: u32,
    failures: u32,
    slow: u32,
}

impl Counts {
    fn share(&self, part: u32) -> f64 {
        if self.calls == 0 { 0.0 } else { f64::from(part) / f64::from(self.calls) }
    }
}

impl Window {
    const BUCKETS: usize = 10;

    fn slice(now: Instant, length: Span) -> u64 {
        now.slice(length.tenth())
    }

    fn add(&mut self, now: Instant, length: Span, failure: bool, slow: bool) {
        let slice = Self::slice(now, length);
        let passed = slice.saturating_sub(self.newest).min(Self::BUCKETS as u64) as usize;
        self.buckets.copy_within(..Self::BUCKETS - passed, passed);
        if let Some(fresh) = self.buckets.get_mut(..passed) {
            fresh.fill(Counts::default());
        }
        self.newest = self.newest.max(slice);
        let bucket = &mut self.buckets[0];
        bucket.calls = bucket.calls.saturating_add(1);
        bucket.failures = bucket.failures.saturating_add(u32::from(failure));
        bucket.slow = bucket.slow.saturating_add(u32::from(slow));
    }

    fn sum(&self, now: Instant, length: Span) -> Counts {
        let passed = Self::slice(now, length).saturating_sub(self.newest).min(Self::BUCKETS as u64) as usize;
        let mut sum = Counts::default();
        for bucket in self.buckets.iter().take(Self::BUCKETS - passed) {
            sum.calls = sum.calls.saturating_add(bucket.calls);
            sum.failures = sum.failures.saturating_add(bucket.failures);
            sum.slow = sum.slow.saturating_add(bucket.slow);
        }
        sum
    }
}
