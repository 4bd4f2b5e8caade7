//! What JavaScript is told, as numbers.

use super::policy::whole;
use crate::core::breaker::{self, Reason, Refusal, Status};
use crate::core::call::{Carry, End, ExhaustedReason, Source, View};
use crate::core::classify::{FailReason, Outcome};
use crate::core::engine::Kept;
use crate::core::shared::News;
use crate::core::time::{Clock, Instant, Span};

/// One thing that is told: which call or circuit, what of it, and where a text that belongs to it begins and how
/// long it is.
pub type Row = [f64; 12];

/// What a [`Row`] is about; `driver.ts` has the same list.
#[derive(Clone, Copy)]
pub enum Kind {
    Send = 1,
    Abort,
    ReadBody,
    Discard,
    Ask,
    Failure,
    Loading,
    Waiting,
    Offline,
    Refused,
    Exhausted,
    Success,
    Failed,
    Cancelled,
    Lock,
    Unlock,
    Circuit,
    Share,
}

/// A row that has so much to say.
pub fn row<const N: usize>(numbers: [f64; N]) -> Row {
    let mut row = [0.0; 12];
    for (place, number) in row.iter_mut().zip(numbers) {
        *place = number;
    }
    row
}

pub fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

/// Text that lies in memory until the next call.
pub fn with_text(mut row: Row, text: &str) -> Row {
    row[10] = text.as_ptr() as usize as f64;
    row[11] = text.len() as f64;
    row
}

/// Milliseconds that a person is shown.
pub fn shown(span: Span) -> f64 {
    span.as_ms().ceil()
}

/// The words of api.d.ts, in its order; `run.ts` has the same lists.
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

/// What a promise settles with; `driver.ts` has the same list.
const fn carried(carry: Carry) -> u32 {
    match carry {
        Carry::Response => 0,
        Carry::Error => 1,
        Carry::HttpError => 2,
        Carry::Offline => 3,
        Carry::Parked => 4,
        Carry::TotalTimeout => 5,
        Carry::Reason => 6,
        Carry::CircuitOpen => 7,
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

pub fn circuit_reason(number: f64) -> Option<Reason> {
    CIRCUIT_REASONS.get(whole(number) as usize).copied().flatten()
}

fn number_of(reason: Option<Reason>) -> f64 {
    CIRCUIT_REASONS.iter().position(|word| *word == reason).unwrap_or(0) as f64
}

/// A moment as wall time in milliseconds since 1970; infinite if there is none.
pub fn wall(clock: &Clock, at: Option<Instant>) -> f64 {
    at.map_or(f64::INFINITY, |at| clock.wall_ms(at))
}

pub fn failure(slot: f64, outcome: Outcome, duration: Span) -> (Kind, Row) {
    let (kind, status) = match outcome {
        Outcome::Network => (0, 0),
        Outcome::Timeout => (1, 0),
        Outcome::Answer { status, .. } => (2, status),
    };
    (Kind::Failure, row([slot, kind.into(), status.into(), duration.as_ms()]))
}

pub fn state(slot: f64, attempt: u32, view: View, clock: &Clock) -> (Kind, Row) {
    let attempt = attempt.into();
    match view {
        View::Loading { probe } => (Kind::Loading, row([slot, attempt, flag(probe)])),
        View::Waiting { until, remaining, delay, source: by, parked } => {
            let (at, by, parked) = (clock.wall_ms(until), source(by).into(), parked.unwrap_or(0).into());
            (Kind::Waiting, row([slot, attempt, at, shown(remaining), shown(delay), by, parked]))
        }
        View::Offline { next_probe } => (Kind::Offline, row([slot, attempt, clock.wall_ms(next_probe)])),
        View::Queued { refusal, remaining } => refused(slot, attempt, refusal, remaining, clock, false),
        View::Held { reason, retry_at, carry } => {
            exhausted(slot, attempt, reason, wall(clock, retry_at), carry, true)
        }
    }
}

pub fn end(slot: f64, attempt: u32, end: End, carry: Carry, clock: &Clock) -> (Kind, Row) {
    let attempt = attempt.into();
    match end {
        End::Success => (Kind::Success, row([slot, attempt])),
        End::Failed(reason) => {
            (Kind::Failed, row([slot, attempt, fail_reason(reason).into(), carried(carry).into()]))
        }
        End::Exhausted(reason, retry_at) => {
            exhausted(slot, attempt, reason, wall(clock, retry_at), carry, false)
        }
        End::Cancelled => (Kind::Cancelled, row([slot, attempt])),
        End::CircuitOpen(refusal, remaining) => refused(slot, attempt, refusal, remaining, clock, true),
    }
}

fn exhausted(
    slot: f64,
    attempt: f64,
    reason: ExhaustedReason,
    retry_at: f64,
    carry: Carry,
    held: bool,
) -> (Kind, Row) {
    let (reason, carry) = (exhausted_reason(reason).into(), carried(carry).into());
    (Kind::Exhausted, row([slot, attempt, reason, carry, retry_at, flag(held)]))
}

fn refused(
    slot: f64,
    attempt: f64,
    refusal: Refusal,
    remaining: Span,
    clock: &Clock,
    settled: bool,
) -> (Kind, Row) {
    let [in_flight, settled] = [refusal.probe_in_flight, settled].map(flag);
    let at = wall(clock, refusal.retry_at);
    (Kind::Refused, row([slot, attempt, at, shown(remaining), in_flight, settled]))
}

/// For the other tabs; times are on the wall clock, which they have in common. `own` is the number of this tab.
pub fn news(news: News, clock: &Clock, own: u32) -> Row {
    let own = own.into();
    match news {
        // What is told once more is still the transition of the tab that made it.
        News::Circuit { stamp, until, doublings, reason } => {
            let until = until.map_or(-1.0, |until| clock.wall_ms(until));
            row([1.0, stamp.tab.into(), stamp.count as f64, until, doublings.into(), number_of(reason)])
        }
        News::Parked { until, status } => row([2.0, own, clock.wall_ms(until), status.into()]),
        News::Budget(by) => row([3.0, own, by as f64]),
        News::Left(milli) => row([4.0, own, milli as f64]),
        News::Probe(until) => row([5.0, own, clock.wall_ms(until)]),
    }
}

/// What has to survive a reload. Infinite is closed, or not parked; thousandths below zero are no budget.
pub fn kept(kept: &Kept<'_>, clock: &Clock) -> Row {
    let (until, doublings, reason) = kept.circuit.map_or((None, 0, None), |(at, k, why)| (Some(at), k, why));
    let (milli, age) = kept.budget.map_or((-1.0, 0.0), |(milli, age)| (milli as f64, age.as_ms()));
    let (parked, status) = kept.parked.map_or((None, 0), |parked| (Some(parked.until), parked.status));
    let (until, parked) = (wall(clock, until), wall(clock, parked));
    let numbers = [until, doublings.into(), number_of(reason), milli, age, parked, status.into()];
    with_text(row(numbers), kept.key)
}

/// The state of a circuit.
pub fn circuit(view: breaker::View, remaining: Span, clock: &Clock) -> Row {
    let (status, until) = match view.status {
        Status::Closed => (0.0, None),
        Status::Open(until) => (1.0, Some(until)),
        Status::HalfOpen => (2.0, None),
        Status::Isolated => (3.0, None),
    };
    row([
        status,
        wall(clock, until),
        shown(remaining),
        view.consecutive_failures.into(),
        view.failure_rate,
        view.calls.into(),
        number_of(view.reason),
    ])
}
