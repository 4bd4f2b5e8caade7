//! Tells JavaScript what state a call or a circuit is in, in numbers.

use wasm_bindgen::JsValue;

use super::driver::{Core, Live};
use crate::core::breaker::{self, Reason, Refusal, Status};
use crate::core::call::{Carry, End, ExhaustedReason, Source, View};
use crate::core::classify::{FailReason, Outcome};
use crate::core::engine::Kept;
use crate::core::policy::Policy;
use crate::core::registry::Parked;
use crate::core::shared::{News, Stamp};
use crate::core::time::{Instant, Span};

/// The words of api.d.ts, in its order; `states.ts` has the same lists.
const fn source(source: Source) -> u32 {
    match source {
        Source::Backoff => 0,
        Source::RetryAfter => 1,
        Source::RateLimit => 2,
        Source::Custom => 3,
    }
}

const fn fail_reason(reason: FailReason) -> u32 {
    match reason {
        FailReason::Status => 0,
        FailReason::NotIdempotent => 1,
        FailReason::BodyNotReplayable => 2,
        FailReason::Vetoed => 3,
        FailReason::InvalidRequest => 4,
        FailReason::CallbackThrew => 5,
        FailReason::Offline => 6,
    }
}

const fn exhausted_reason(reason: ExhaustedReason) -> u32 {
    match reason {
        ExhaustedReason::Limit => 0,
        ExhaustedReason::TotalTimeout => 1,
        ExhaustedReason::RetryAfterTooLong => 2,
        ExhaustedReason::Budget => 3,
    }
}

const CIRCUIT_REASONS: [Option<Reason>; 7] = [
    None,
    Some(Reason::Consecutive),
    Some(Reason::FailureRate),
    Some(Reason::SlowRate),
    Some(Reason::RetryAfter),
    Some(Reason::ProbeFailed),
    Some(Reason::Isolated),
];

fn circuit_reason(reason: Option<Reason>) -> u32 {
    CIRCUIT_REASONS.iter().position(|word| *word == reason).unwrap_or(0) as u32
}

impl Core {
    /// A moment as wall time in milliseconds since 1970; infinite if there is none.
    fn wall(&self, at: Option<Instant>) -> f64 {
        at.map_or(f64::INFINITY, |at| self.clocks.wall_ms(at))
    }

    pub(super) fn tell_failure(&self, live: &Live, outcome: Outcome, duration: Span) {
        let (kind, status) = match outcome {
            Outcome::Network => (0, 0),
            Outcome::Timeout => (1, 0),
            Outcome::Answer { status, .. } => (2, status),
        };
        let error = live.error.borrow().clone();
        live.run.failure(kind, status.into(), &error, js_sys::Date::now(), duration.as_ms());
    }

    pub(super) fn tell_state(&self, slot: u32, live: &Live, attempt: u32, view: View) {
        let run = &live.run;
        match view {
            View::Loading { probe } => run.loading(attempt, probe),
            View::Waiting { until, remaining, delay, source: by, parked } => {
                let (at, parked) = (self.wall(Some(until)), parked.unwrap_or(0).into());
                run.waiting(attempt, at, remaining.as_ms().ceil(), delay.as_ms().ceil(), source(by), parked);
            }
            View::Offline { next_probe } => run.offline(attempt, self.wall(Some(next_probe))),
            View::Queued { refusal, remaining } => {
                self.tell_refused(slot, live, attempt, refusal, remaining, false);
            }
            View::Held { reason, retry_at, carry } => {
                let (how, value) = self.carried(slot, live, carry);
                let retry_at = self.wall(retry_at);
                run.exhausted(attempt, exhausted_reason(reason), retry_at, true, how, &value);
            }
        }
    }

    pub(super) fn tell_end(&self, slot: u32, live: &Live, attempt: u32, end: End, carry: Carry) {
        let run = &live.run;
        let (how, value) = self.carried(slot, live, carry);
        match end {
            End::Success => run.success(attempt, &value),
            End::Failed(reason) => run.failed(attempt, fail_reason(reason), how, &value),
            End::Exhausted(reason, retry_at) => {
                run.exhausted(attempt, exhausted_reason(reason), self.wall(retry_at), false, how, &value);
            }
            End::Cancelled => run.cancelled(attempt, &value),
            End::CircuitOpen(refusal, remaining) => {
                self.tell_refused(slot, live, attempt, refusal, remaining, true);
            }
        }
    }

    fn tell_refused(
        &self,
        slot: u32,
        live: &Live,
        attempt: u32,
        refusal: Refusal,
        remaining: Span,
        settled: bool,
    ) {
        let key =
            self.engine.borrow().circuit_of(slot).map(|entry| entry.key().to_owned()).unwrap_or_default();
        let retry_at = self.wall(refusal.retry_at);
        live.run.refused(attempt, &key, retry_at, remaining.as_ms().ceil(), refusal.probe_in_flight, settled);
    }

    fn key_of(&self, slot: u32) -> JsValue {
        let engine = self.engine.borrow();
        engine.circuit_of(slot).map_or(JsValue::UNDEFINED, |entry| JsValue::from_str(entry.key()))
    }

    fn carried(&self, slot: u32, live: &Live, carry: Carry) -> (u32, JsValue) {
        match carry {
            Carry::Response => (0, live.response.borrow().clone()),
            Carry::HttpError => (2, live.response.borrow().clone()),
            Carry::Error => (1, live.error.borrow().clone()),
            Carry::TotalTimeout => {
                let total = live.settings.policy.total_timeout.unwrap_or(Span::ZERO);
                (1, self.host.timeout(1, total.as_ms()))
            }
            Carry::Offline => (3, JsValue::UNDEFINED),
            Carry::CircuitOpen => (1, JsValue::UNDEFINED),
            Carry::Parked => (4, self.key_of(slot)),
            Carry::Reason => (1, live.reason.borrow().clone()),
        }
    }

    /// Tells the other tabs; times are on the wall clock, which they have in common.
    pub(super) fn tell_tabs(&self, key: &str, news: News) {
        let tab = match news {
            // What is told once more is still the transition of the tab that made it.
            News::Circuit { stamp, .. } => stamp.tab,
            _ => self.engine.borrow().tab(),
        };
        let (kind, a, b, c, d) = match news {
            News::Circuit { stamp, until, doublings, reason } => {
                let until = until.map_or(-1.0, |until| self.clocks.wall_ms(until));
                (1, stamp.count as f64, until, doublings.into(), circuit_reason(reason).into())
            }
            News::Parked { until, status } => (2, self.clocks.wall_ms(until), status.into(), 0.0, 0.0),
            News::Budget(by) => (3, by as f64, 0.0, 0.0, 0.0),
            News::Left(milli) => (4, milli as f64, 0.0, 0.0, 0.0),
            News::Probe(until) => (5, self.clocks.wall_ms(until), 0.0, 0.0, 0.0),
        };
        self.host.share(kind, tab, key, a, b, c, d);
    }

    /// Another tab told; the numbers are finite, and may be any.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn hear(
        &self,
        options: &Policy,
        kind: u32,
        tab: u32,
        key: &str,
        a: f64,
        b: f64,
        c: f64,
        d: f64,
    ) {
        let now = self.now();
        // What is over on the wall clock is over.
        let at = |wall: f64| now + Span::from_ms(wall - self.clocks.wall_ms(now));
        let news = match kind {
            0 => return self.tell_all(now),
            1 => News::Circuit {
                stamp: Stamp { count: a as u64, tab },
                until: (b >= 0.0).then(|| at(b)),
                doublings: c as u32,
                reason: CIRCUIT_REASONS.get(d as usize).copied().flatten(),
            },
            2 => News::Parked { until: at(a), status: b as u16 },
            3 => News::Budget(a as i64),
            4 => News::Left(a as u64),
            _ => News::Probe(at(a)),
        };
        self.engine.borrow_mut().hear(key, news, options, now);
        self.drain();
    }

    fn tell_all(&self, now: Instant) {
        self.engine.borrow_mut().tell_all(now);
        self.drain();
    }

    /// What has to survive a reload, by `Host.kept_`.
    pub(super) fn tell_kept(&self) -> Vec<JsValue> {
        self.clocks.now(&self.host);
        let engine = self.engine.borrow();
        let tell = |Kept { key, circuit, budget, parked }: Kept<'_>| {
            let (until, doublings, reason) =
                circuit.map_or((None, 0, None), |(at, k, why)| (Some(at), k, why));
            let (milli, age) = budget.map_or((-1.0, 0.0), |(milli, age)| (milli as f64, age.as_ms()));
            let (parked, status) = parked.map_or((None, 0), |parked| (Some(parked.until), parked.status));
            let (until, parked) = (self.wall(until), self.wall(parked));
            self.host.kept(key, until, doublings, circuit_reason(reason), milli, age, parked, status)
        };
        engine.kept().map(tell).collect()
    }

    /// Takes up what [`tell_kept`](Self::tell_kept) told; times in milliseconds from now, `milli` below zero is none.
    pub(super) fn restore(
        &self,
        options: &Policy,
        key: &str,
        (open, doublings, reason): (f64, u32, u32),
        budget: (f64, f64),
        parked: (f64, u16),
    ) {
        let now = self.now();
        let reason = CIRCUIT_REASONS.get(reason as usize).copied().flatten();
        let circuit = (open >= 0.0).then(|| (now + Span::from_ms(open), doublings, reason));
        let budget = (budget.0 >= 0.0).then(|| (budget.0 as u64, Span::from_ms(budget.1)));
        let parked =
            (parked.0 > 0.0).then(|| Parked { until: now + Span::from_ms(parked.0), status: parked.1 });
        self.engine.borrow_mut().restore(Kept { key, circuit, budget, parked }, options, now);
    }

    /// The state of a circuit; `event` also tells the listeners.
    pub(super) fn tell_circuit(&self, key: &str, view: breaker::View, event: bool) -> JsValue {
        let (status, until) = match view.status {
            Status::Closed => (0, None),
            Status::Open(until) => (1, Some(until)),
            Status::HalfOpen => (2, None),
            Status::Isolated => (3, None),
        };
        let remaining = self.engine.borrow().open_for(view.status);
        self.host.circuit(
            event,
            key,
            status,
            self.wall(until),
            remaining.as_ms().ceil(),
            view.consecutive_failures,
            view.failure_rate,
            view.calls,
            circuit_reason(view.reason),
        )
    }
}
