//! What an answer means for an entry.

/// How an entry came back from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Answered by that status; zero for an answer that may not be looked at.
    Answer(u16),
    /// Not answered: the network, a limit of time, a circuit, a hook.
    Failed,
    /// No request can be made of it.
    Invalid,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The server has it.
    Delivered,
    /// The server does not want it, and never will.
    Rejected,
    /// It stays where it is.
    Again,
}

/// 4xx are final but for those that speak of the moment: 408, 425, 429, and 409, by which a server says that the same
/// Idempotency-Key is being worked on (draft-ietf-httpapi-idempotency-key-header-07, 2.7); every entry has a key.
pub const fn judge(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Answer(408 | 409 | 425 | 429 | 500..) | Outcome::Failed => Verdict::Again,
        Outcome::Answer(400..500) | Outcome::Invalid => Verdict::Rejected,
        Outcome::Answer(_) => Verdict::Delivered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_of_the_moment_is_sent_again_and_no_other_4xx_is() {
        for status in [408, 409, 425, 429, 500, 501, 503, 599, 999] {
            assert_eq!(judge(Outcome::Answer(status)), Verdict::Again, "{status}");
        }
        for status in [400, 401, 403, 404, 410, 413, 422, 499] {
            assert_eq!(judge(Outcome::Answer(status)), Verdict::Rejected, "{status}");
        }
        for status in [0, 200, 201, 204, 303, 304] {
            assert_eq!(judge(Outcome::Answer(status)), Verdict::Delivered, "{status}");
        }
    }

    #[test]
    fn without_an_answer_it_is_sent_again_if_it_can_be() {
        assert_eq!(judge(Outcome::Failed), Verdict::Again);
        assert_eq!(judge(Outcome::Invalid), Verdict::Rejected);
    }
}
