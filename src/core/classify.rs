//! What an outcome means: the table of semantics 3 for the call, and of semantics 6 for its circuit.

use super::breaker;
use super::hints::Hint;
use super::policy::Retry;

/// How an attempt ended. A cancelled attempt has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// `fetch` rejected, or the body broke off where it belongs to the attempt.
    Network,
    /// The attempt's own limit passed.
    Timeout,
    /// A response. Status 0 is an opaque one.
    Answer {
        /// The HTTP status.
        status: u16,
        /// What the server says about coming back.
        hint: Option<Hint>,
    },
}

impl Outcome {
    /// Whether it is a response that `fetch` users take for a good one: below 400, or opaque.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Answer { status, .. } if *status < 400)
    }
}

/// What of a call decides whether it may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Traits {
    /// Its method is among those that may be repeated.
    pub listed: bool,
    /// It carries an idempotency key.
    pub keyed: bool,
    /// Its body can be sent again.
    pub replayable: bool,
}

/// Why another attempt would not help or is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailReason {
    /// The status says so.
    Status,
    /// It might take effect twice.
    NotIdempotent,
    /// Its body is gone.
    BodyNotReplayable,
    /// `shouldRetry` or `retryOnTimeout` said no.
    Vetoed,
    /// The caller's mistake, nothing was sent.
    InvalidRequest,
    /// A hook threw.
    CallbackThrew,
    /// The browser is offline and the call would not wait.
    Offline,
}

/// Whether to send again. `asked` is the answer of `shouldRetry`; `sent_before` tells that an earlier attempt of
/// the same call reached the wire, so that a 409 may be the echo of our own request.
pub fn judge(
    retry: &Retry,
    traits: Traits,
    outcome: &Outcome,
    sent_before: bool,
    asked: Option<bool>,
) -> Result<(), FailReason> {
    let by_table = match *outcome {
        Outcome::Network => Ok(()),
        Outcome::Timeout if retry.on_timeout => Ok(()),
        Outcome::Timeout => Err(FailReason::Vetoed),
        Outcome::Answer { status, hint } => {
            let echo = status == 409 && traits.keyed && sent_before;
            let told = status == 413 && hint.is_some();
            if retry.statuses.contains(status) || echo || told { Ok(()) } else { Err(FailReason::Status) }
        }
    };
    match (asked, by_table) {
        (Some(true), _) => {}
        (Some(false), Ok(())) => return Err(FailReason::Vetoed),
        (_, Err(reason)) => return Err(reason),
        (None, Ok(())) if !traits.replayable => {}
        (None, Ok(())) if traits.listed || traits.keyed => {}
        (None, Ok(())) => return Err(FailReason::NotIdempotent),
    }
    if traits.replayable { Ok(()) } else { Err(FailReason::BodyNotReplayable) }
}

/// What the outcome means for the circuit. `failure` is the answer of `isFailure`.
pub const fn for_circuit(outcome: &Outcome, failure: Option<bool>) -> breaker::Verdict {
    use breaker::Verdict;
    match (failure, outcome) {
        (Some(true), _) => Verdict::Failure,
        (Some(false), _) => Verdict::Success,
        (None, Outcome::Network | Outcome::Timeout) => Verdict::Failure,
        (None, Outcome::Answer { status: 429, .. }) => Verdict::Soft,
        (None, Outcome::Answer { status: 500..600, .. }) => Verdict::Failure,
        (None, Outcome::Answer { .. }) => Verdict::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hints::HintSource;
    use crate::core::time::Span;

    const PLAIN: Traits = Traits { listed: true, keyed: false, replayable: true };
    const POST: Traits = Traits { listed: false, ..PLAIN };
    const KEYED_POST: Traits = Traits { keyed: true, ..POST };
    const STREAM: Traits = Traits { replayable: false, ..PLAIN };

    fn answer(status: u16) -> Outcome {
        Outcome::Answer { status, hint: None }
    }

    fn table(traits: Traits, outcome: Outcome) -> Result<(), FailReason> {
        judge(&Retry::default(), traits, &outcome, true, None)
    }

    #[test]
    fn the_table_holds_for_every_status() {
        for status in 400..=599 {
            let mendable = matches!(status, 408 | 425 | 429 | 500..=599)
                && !matches!(status, 501 | 505 | 506 | 507 | 508 | 510 | 511);
            let expected = if mendable { Ok(()) } else { Err(FailReason::Status) };
            assert_eq!(table(PLAIN, answer(status)), expected, "{status}");
            let post = if mendable { Err(FailReason::NotIdempotent) } else { Err(FailReason::Status) };
            assert_eq!(table(POST, answer(status)), post, "{status}");
            let keyed = if status == 409 { Ok(()) } else { expected };
            assert_eq!(table(KEYED_POST, answer(status)), keyed, "{status}");
            let stream = if mendable { Err(FailReason::BodyNotReplayable) } else { Err(FailReason::Status) };
            assert_eq!(table(STREAM, answer(status)), stream, "{status}");
        }
    }

    #[test]
    fn network_failures_and_timeouts_follow_the_method() {
        for outcome in [Outcome::Network, Outcome::Timeout] {
            assert_eq!(table(PLAIN, outcome), Ok(()));
            assert_eq!(table(POST, outcome), Err(FailReason::NotIdempotent));
            assert_eq!(table(KEYED_POST, outcome), Ok(()));
            assert_eq!(table(STREAM, outcome), Err(FailReason::BodyNotReplayable));
        }
        let never = Retry { on_timeout: false, ..Retry::default() };
        assert_eq!(judge(&never, PLAIN, &Outcome::Timeout, false, None), Err(FailReason::Vetoed));
    }

    #[test]
    fn too_large_is_retried_only_when_told_when() {
        let hint = Some(Hint { wait: Span::from_ms(1.0), source: HintSource::RetryAfter });
        assert_eq!(table(PLAIN, answer(413)), Err(FailReason::Status));
        assert_eq!(table(PLAIN, Outcome::Answer { status: 413, hint }), Ok(()));
    }

    #[test]
    fn what_can_be_sent_only_once_fails_for_its_body_before_its_method() {
        let stream = Traits { replayable: false, ..POST };
        assert_eq!(table(stream, answer(503)), Err(FailReason::BodyNotReplayable));
    }

    #[test]
    fn a_conflict_on_the_first_attempt_is_no_echo() {
        let first = judge(&Retry::default(), KEYED_POST, &answer(409), false, None);
        assert_eq!(first, Err(FailReason::Status));
    }

    #[test]
    fn should_retry_decides_but_replayability_holds() {
        let asked = |traits, outcome, answer| judge(&Retry::default(), traits, &outcome, true, Some(answer));
        assert_eq!(asked(PLAIN, answer(404), true), Ok(()));
        assert_eq!(asked(POST, Outcome::Network, true), Ok(()));
        assert_eq!(asked(PLAIN, answer(503), false), Err(FailReason::Vetoed));
        assert_eq!(asked(PLAIN, answer(404), false), Err(FailReason::Status));
        assert_eq!(asked(STREAM, answer(503), true), Err(FailReason::BodyNotReplayable));
    }

    #[test]
    fn any_answer_in_time_proves_that_the_server_lives() {
        use breaker::Verdict::*;
        for (status, verdict) in [
            (0, Success),
            (200, Success),
            (404, Success),
            (408, Success),
            (429, Soft),
            (500, Failure),
            (599, Failure),
        ] {
            assert_eq!(for_circuit(&answer(status), None), verdict, "{status}");
        }
        assert_eq!(for_circuit(&Outcome::Network, None), Failure);
        assert_eq!(for_circuit(&answer(200), Some(true)), Failure);
        assert_eq!(for_circuit(&Outcome::Timeout, Some(false)), Success);
    }
}
