//! One call: from the first attempt to the settled promise (semantics 1).
//!
//! ```text
//! Idle ─▶ Loading ─▶ Done                       success, failed, cancelled, exhausted, circuit-open
//!            │ ▲
//!            ▼ │ timer, retryNow, online
//!         Waiting ⇄ Offline      Queued         Held ─▶ (a new run)
//! ```
//!
//! A call is told what happened by [`Call::handle`] and says what to do next as [`Command`]s. Whatever it is told
//! after its end, or about an attempt that is over, changes nothing.

use std::sync::Arc;

use super::breaker::{self, Breaker, Refusal, Token};
use super::budget::Bucket;
use super::classify::{self, FailReason, Outcome, Traits};
use super::hints::HintSource;
use super::keepalive::Quota;
use super::policy::{Budget, Covers, Fleet, OnCircuitOpen, OnExhausted, OnOffline, Policy};
use super::ramp::Ramp;
use super::registry::{CircuitId, Parked};
use super::rng::Rng;
use super::shared::{ASK_AGAIN, LOCK_WITHIN, Lock, News};
use super::time::{Instant, Span};
use super::{backoff, connectivity};

/// What a call is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its options, shared with other calls; an engine may be handed to another thread.
    pub policy: Arc<Policy>,
    /// Its key, where it has a circuit or a budget.
    pub circuit: Option<CircuitId>,
    /// Whether it may be sent again.
    pub traits: Traits,
    /// Which hooks it has.
    pub hooks: Hooks,
    /// 1, and one more after each `retry()` from a settled state.
    pub run: u32,
}

/// Which hooks have to be asked. Those that a call does not have are never waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hooks {
    /// `shouldRetry`.
    pub should_retry: bool,
    /// `delay` as a function.
    pub delay: bool,
    /// `beforeRetry`.
    pub before_retry: bool,
}

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// It begins.
    Start,
    /// What it was made of is not valid: nothing is ever sent.
    Invalid,
    /// Its body could be sent once, and was.
    Spent,
    /// The attempt ended.
    Outcome {
        /// Which attempt.
        seq: u32,
        /// How.
        outcome: Outcome,
        /// What `isFailure` said.
        failure: Option<bool>,
    },
    /// The body, where it belongs to the attempt, is complete.
    BodyRead {
        /// Of which attempt.
        seq: u32,
    },
    /// `fetch` gave something that is no response: a mistake of the caller's.
    NotAResponse {
        /// In which attempt.
        seq: u32,
    },
    /// `shouldRetry` answered; `None` is "decide as usual".
    ShouldRetry(Option<bool>),
    /// `delay` answered; `None` is "decide as usual".
    Delay(Option<Span>),
    /// `beforeRetry` is through.
    Prepared,
    /// A hook threw.
    Threw,
    /// The deadline of [`Call::next_timeout`] came.
    Timer,
    /// The browser says that it is offline.
    Offline,
    /// The browser says that it is online.
    Online,
    /// The circuit would let this call through.
    Turn,
    /// The circuit still refuses, for another reason or for longer.
    Refused,
    /// The circuit has closed, and this call's turn comes then.
    Place(Instant),
    /// A person clicked "try now".
    RetryNow,
    /// A person clicked "try again" on a call that is held.
    Retry,
    /// The caller's signal, `cancel()` or `dispose()`.
    Cancel,
    /// The answer to [`Action::Lock`].
    Locked {
        /// For which attempt.
        seq: u32,
        /// The answer.
        lock: Lock,
    },
    /// Someone looks at the countdown, or no one does.
    Watch(bool),
    /// The page is shown again, or hidden.
    Watched,
}

/// What to do next, for the call in `slot`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Command {
    /// Which call.
    pub slot: u32,
    /// What to do.
    pub action: Action,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send the attempt.
    Send {
        /// Names the attempt.
        seq: u32,
    },
    /// Abort the attempt.
    Abort {
        /// Which attempt.
        seq: u32,
        /// With what reason.
        why: AbortReason,
    },
    /// Read the body to its end.
    ReadBody {
        /// Of which attempt.
        seq: u32,
    },
    /// Cancel the body of the response that will not be used.
    Discard,
    /// Ask `shouldRetry`.
    AskShouldRetry {
        /// Names the attempt that the answer is for.
        seq: u32,
        /// The attempt that ended.
        attempt: u32,
        /// The wait that would follow.
        delay: Span,
    },
    /// Ask `delay`.
    AskDelay {
        /// Names the attempt that the answer is for.
        seq: u32,
        /// The attempt that ended.
        attempt: u32,
        /// The wait that would follow.
        delay: Span,
    },
    /// Run `beforeRetry`.
    AskBeforeRetry {
        /// Names the attempt that the answer is for.
        seq: u32,
        /// The attempt that ended.
        attempt: u32,
        /// The wait that was.
        delay: Span,
    },
    /// Note a failed attempt.
    Failure {
        /// Network, timeout or status.
        outcome: Outcome,
        /// How long the attempt took.
        duration: Span,
    },
    /// Tell that the state changed.
    State {
        /// Attempts started in this run.
        attempt: u32,
        /// The state.
        view: View,
    },
    /// Settle the promise and forget the call.
    Settle {
        /// Attempts started in this run.
        attempt: u32,
        /// How the call ended.
        end: End,
        /// What the promise settles with.
        carry: Carry,
    },
    /// Tell that the circuit (not a call) in `slot` changed.
    Circuit(breaker::View),
    /// Tell the other tabs of the key (not a call) in `slot`.
    Share(News),
    /// Ask for the lock of the key: one tab alone sends a probe. Answer with [`Input::Locked`].
    Lock {
        /// Names the attempt.
        seq: u32,
    },
    /// The probe is over, and its lock can go.
    Unlock {
        /// Of which attempt.
        seq: u32,
    },
}

/// Why an attempt is aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AbortReason {
    /// Its limit passed; answer with the outcome `Timeout`.
    Timeout,
    /// The limit of the whole run passed.
    TotalTimeout,
    /// The caller does not want it any more.
    Cancelled,
}

/// A state that is not the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// An attempt is under way.
    Loading {
        /// It is the probe of a half-open circuit.
        probe: bool,
    },
    /// The next attempt comes later.
    Waiting {
        /// When.
        until: Instant,
        /// Time left, rounded up to a whole step after the first.
        remaining: Span,
        /// The whole wait.
        delay: Span,
        /// Who set it.
        source: Source,
        /// Where it was another call's answer: its status.
        parked: Option<u16>,
    },
    /// The browser is offline.
    Offline {
        /// When it is tried all the same.
        next_probe: Instant,
    },
    /// The circuit refuses, and the call waits for its turn.
    Queued {
        /// Why and until when.
        refusal: Refusal,
        /// Time left.
        remaining: Span,
    },
    /// Exhausted, but the promise stays pending.
    Held {
        /// What ran out.
        reason: ExhaustedReason,
        /// When the server would have it again.
        retry_at: Option<Instant>,
        /// What the promise would settle with.
        carry: Carry,
    },
}

/// Who set a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The exponential.
    Backoff,
    /// The server, by `Retry-After`.
    RetryAfter,
    /// The server, by a rate limit header.
    RateLimit,
    /// The `delay` function.
    Custom,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// A good response.
    Success,
    /// Another attempt would not help or is not allowed.
    Failed(FailReason),
    /// It ran out of something.
    Exhausted(ExhaustedReason, Option<Instant>),
    /// The caller's wish.
    Cancelled,
    /// The circuit refused.
    CircuitOpen(Refusal, Span),
}

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExhaustedReason {
    /// The retries.
    Limit,
    /// What may be retried of all that fails under its key.
    Budget,
    /// The time for the whole run.
    TotalTimeout,
    /// The patience: the server asks for more than allowed.
    RetryAfterTooLong,
}

/// What the promise settles with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carry {
    /// The response of the last attempt.
    Response,
    /// The same, as an error: it is no good one, and `throwHttpErrors` is set.
    HttpError,
    /// The error of the last attempt, of the hook or of the request.
    Error,
    /// A timeout of the whole run.
    TotalTimeout,
    /// A refusal of the circuit.
    CircuitOpen,
    /// The server wants no call of the key for longer than this one can wait.
    Parked,
    /// The browser is offline.
    Offline,
    /// The reason of the caller's.
    Reason,
}

/// What a call may look at and change while it handles an input.
pub struct Env<'a> {
    /// What time it is.
    pub now: Instant,
    /// Random numbers.
    pub rng: &'a mut Rng,
    /// `navigator.onLine` is not false.
    pub online: bool,
    /// Until when the server wants no call of this key.
    pub parked: Option<Parked>,
    /// The circuit of this call.
    pub breaker: Option<&'a mut Breaker>,
    /// The budget of its key.
    pub budget: Option<&'a mut Option<Bucket>>,
    /// Those that wait for the circuit go slowly.
    pub ramp: Option<&'a mut Ramp>,
    /// Other tabs are told of the key.
    pub shared: bool,
    /// Names attempts; one more with each.
    pub seq: &'a mut u32,
    /// Where commands go.
    pub out: &'a mut Vec<Command>,
    /// The call's own place.
    pub slot: u32,
    /// Its circuit's place.
    pub circuit: Option<CircuitId>,
}

impl Env<'_> {
    fn push(&mut self, action: Action) {
        self.out.push(Command { slot: self.slot, action });
    }

    /// Does something with the circuit and tells when it changed.
    fn with_breaker<T>(&mut self, act: impl FnOnce(&mut Breaker, &mut Rng) -> T) -> Option<T> {
        let breaker = self.breaker.as_deref_mut()?;
        let epoch = breaker.epoch();
        let result = act(breaker, self.rng);
        if breaker.epoch() != epoch
            && let Some(id) = self.circuit
        {
            let view = breaker.view(self.now);
            self.out.push(Command { slot: id.0, action: Action::Circuit(view) });
        }
        Some(result)
    }

    fn release(&mut self, seq: u32, token: Option<Token>) {
        if let Some(token) = token {
            self.unlock(seq, token);
            self.with_breaker(|breaker, _| breaker.release(token));
        }
    }

    fn unlock(&mut self, seq: u32, token: Token) {
        if self.shared && token.is_probe() {
            self.push(Action::Unlock { seq });
        }
    }

    fn share(&mut self, news: News) {
        if let (true, Some(id)) = (self.shared, self.circuit) {
            self.out.push(Command { slot: id.0, action: Action::Share(news) });
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Idle,
    Loading(Loading),
    Waiting(Wait),
    Offline { until: Instant, floor: Instant, source: Source },
    Queued { refusal: Refusal, floor: Instant, shown: Span, source: Source },
    Held,
    Done,
}

/// A wait in progress.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wait {
    until: Instant,
    /// What the server imposed of it: no `online` ends it earlier.
    floor: Instant,
    /// What the countdown shows.
    shown: Span,
    delay: Span,
    source: Source,
    parked: Option<u16>,
    /// The circuit has given it this moment.
    placed: bool,
}

/// An attempt under way.
#[derive(Clone, Debug, PartialEq)]
struct Loading {
    seq: u32,
    token: Option<Token>,
    started: Instant,
    deadline: Option<Instant>,
    /// It is the probe of a half-open circuit.
    probe: bool,
    /// Sent with `keepalive`.
    kept_alive: bool,
    /// A person wanted it.
    clicked: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The lock of the key is asked for, and nothing is told yet: the attempt after this wait.
    Locking { delay: Span },
    /// `beforeRetry` runs.
    Preparing,
    /// On the wire.
    InFlight,
    /// The headers are here and say this; the body belongs to the attempt.
    Reading(Headers),
    /// Aborted by its own limit; the outcome follows. What the headers decided, if they were here.
    TimedOut(Option<Headers>),
    /// A hook is asked what to make of this outcome.
    Judging(Failed),
}

/// What the headers decided where the body is still to come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Headers {
    Success { failure: Option<bool> },
    Final(End),
}

/// A failed attempt, and the wait that another one would have to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Failed {
    outcome: Outcome,
    /// An earlier attempt had reached the wire.
    sent_before: bool,
    /// The backoff, or what `delay` said.
    wait: Span,
    source: Source,
    /// The server's minimum, and the same with jitter.
    hint: Option<(Instant, Instant)>,
    /// What `shouldRetry` said.
    asked: Option<bool>,
}

impl Failed {
    fn floor(&self) -> Instant {
        self.retry_at().unwrap_or_default()
    }

    /// When the server would have it again, if it said so.
    fn retry_at(&self) -> Option<Instant> {
        self.hint.map(|(floor, _)| floor)
    }

    /// When the next attempt comes, counted from `now`, and who set it.
    fn next(&self, now: Instant) -> (Instant, Source) {
        let own = now + self.wait;
        match (self.hint, self.outcome) {
            (Some((_, until)), Outcome::Answer { hint: Some(hint), .. }) if until >= own => {
                let source = match hint.source {
                    HintSource::RetryAfter => Source::RetryAfter,
                    HintSource::RateLimit => Source::RateLimit,
                };
                (until, source)
            }
            _ => (own, self.source),
        }
    }
}

/// What a call in the queue is told: its turn comes when the circuit lets it through and its own wait is over.
fn turn(refusal: Refusal, floor: Instant) -> Refusal {
    Refusal { retry_at: refusal.retry_at.map(|at| at.max(floor)), ..refusal }
}

/// Which of the client's counters a call is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Not begun, or over.
    Idle,
    /// `loading`.
    Loading,
    /// `waiting`.
    Waiting,
    /// `offline`.
    Offline,
    /// `circuit-open`, in the queue.
    Queued,
    /// `exhausted`, held.
    Held,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Call {
    setup: Setup,
    state: State,
    attempt: u32,
    /// The end of the whole run.
    total: Instant,
    /// The last backoff, for decorrelated jitter.
    previous: Option<Span>,
    /// What the last attempt left: the promise can settle with it.
    last: Option<Carry>,
    /// An attempt of any run reached the wire.
    sent: bool,
    /// `shouldRetry` wanted the last retry.
    vouched: bool,
    /// One failed with `keepalive`: the rest is sent without.
    plain: bool,
    watched: bool,
}

impl Call {
    /// A call that has not begun.
    pub fn new(setup: Setup) -> Self {
        let sent = setup.run > 1;
        Self {
            setup,
            state: State::Idle,
            attempt: 0,
            total: Instant::NEVER,
            previous: None,
            last: None,
            sent,
            vouched: false,
            plain: false,
            watched: false,
        }
    }

    // ------------------------------------------------------------ what it is

    /// Its options.
    pub fn policy(&self) -> &Policy {
        &self.setup.policy
    }

    /// Where its circuit and its budget are.
    pub const fn circuit(&self) -> Option<CircuitId> {
        self.setup.circuit
    }

    /// Whether it passes the circuit.
    pub fn is_guarded(&self) -> bool {
        self.setup.policy.breaker.is_some()
    }

    /// Whether it is over: then it waits only to be forgotten.
    pub const fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether `seq` is the attempt under way.
    pub const fn is_current(&self, seq: u32) -> bool {
        matches!(&self.state, State::Loading(attempt) if attempt.seq == seq)
    }

    /// Whether `seq` is under way and has no outcome yet.
    pub const fn awaits(&self, seq: u32) -> bool {
        matches!(&self.state, State::Loading(attempt)
            if attempt.seq == seq && matches!(attempt.phase, Phase::InFlight | Phase::Reading(_)))
    }

    /// The attempt that has the lock of a probe though its circuit does not wait for it any more.
    pub fn lost_probe(&self, breaker: &Breaker) -> Option<u32> {
        match &self.state {
            State::Loading(Loading { seq, token: Some(token), phase, .. })
                if token.is_probe()
                    && !breaker.is_current(*token)
                    && !matches!(phase, Phase::Locking { .. }) =>
            {
                Some(*seq)
            }
            _ => None,
        }
    }

    /// Which counter it is in.
    pub const fn kind(&self) -> Kind {
        match self.state {
            State::Idle | State::Done => Kind::Idle,
            State::Loading(_) => Kind::Loading,
            State::Waiting(_) => Kind::Waiting,
            State::Offline { .. } => Kind::Offline,
            State::Queued { .. } => Kind::Queued,
            State::Held => Kind::Held,
        }
    }

    /// When a wait ends, if it is in one and that is known.
    pub fn retry_at(&self) -> Option<Instant> {
        match self.state {
            State::Waiting(wait) => Some(wait.until),
            State::Queued { refusal, floor, .. } => turn(refusal, floor).retry_at,
            _ => None,
        }
    }

    /// When it wants [`Input::Timer`]. Countdowns tick only while `visible` and watched.
    pub fn next_timeout(&self, visible: bool) -> Option<Instant> {
        let at = match &self.state {
            State::Idle | State::Done | State::Held => return None,
            State::Loading(attempt) => match attempt.phase {
                Phase::Locking { .. } | Phase::InFlight | Phase::Reading(_) => {
                    attempt.deadline.unwrap_or(Instant::NEVER)
                }
                _ => Instant::NEVER,
            },
            State::Offline { until, .. } => *until,
            State::Waiting(wait) => wait.until,
            State::Queued { .. } => Instant::NEVER,
        };
        let tick = if visible { self.next_tick() } else { None };
        let at = at.min(self.total).min(tick.unwrap_or(Instant::NEVER));
        (at != Instant::NEVER).then_some(at)
    }

    /// Where the countdown ends and what it shows.
    fn countdown(&self) -> Option<(Instant, Span)> {
        match self.state {
            State::Waiting(wait) => Some((wait.until, wait.shown)),
            State::Queued { refusal, floor, shown, .. } => {
                turn(refusal, floor).retry_at.map(|until| (until, shown))
            }
            _ => None,
        }
    }

    /// The step of the countdown while someone looks; not below what a screen can show.
    fn step(&self) -> Option<Span> {
        self.setup.policy.tick.filter(|_| self.watched).map(|tick| tick.max(Span::from_ms(16.0)))
    }

    /// When the countdown has to show the next lower multiple of its step.
    fn next_tick(&self) -> Option<Instant> {
        let step = self.step()?;
        let (until, shown) = self.countdown().filter(|(_, shown)| *shown <= Span::LONGEST)?;
        let next = (shown - Span::from_ms(0.001)).round_up(step) - step;
        (next > Span::ZERO).then_some(until - next)
    }

    // ------------------------------------------------------------ what happens to it

    /// Whether the attempt that is about to be sent is sent with `keepalive`, which takes of the `quota`. A call that
    /// is not retried is as native fetch would have it.
    pub fn keep_alive(&mut self, seq: u32, bytes: u32, quota: &mut Quota) -> bool {
        let State::Loading(attempt) = &mut self.state else {
            return false;
        };
        if attempt.seq != seq || self.plain {
            return false;
        }
        attempt.kept_alive = quota.admit(bytes);
        if !attempt.kept_alive && self.setup.policy.retry.limit == 0 {
            quota.take(bytes);
            attempt.kept_alive = true;
        }
        attempt.kept_alive
    }

    /// An attempt failed that was sent with `keepalive`, which may be all that is wrong with it: the quota of the
    /// browser has many users. The first time, another one without it is free of charge.
    fn is_free(&self, outcome: Outcome) -> bool {
        let kept = matches!(self.state, State::Loading(Loading { kept_alive: true, .. }));
        kept && !self.plain && outcome == Outcome::Network && self.setup.policy.retry.limit > 0
    }

    /// Handles one input. True if it had an effect.
    pub fn handle(&mut self, input: Input, env: &mut Env<'_>) -> bool {
        match (input, &self.state) {
            (_, State::Done) => return false,
            (Input::Watch(watched), _) => {
                self.watched = watched;
                self.tick(env);
            }
            (Input::Watched, _) => self.tick(env),
            (Input::Start, State::Idle) => self.start(false, env),
            (Input::Invalid, State::Idle) => {
                self.fail(FailReason::InvalidRequest, env);
            }
            (Input::Spent, State::Idle) => self.fail(FailReason::BodyNotReplayable, env),
            (Input::Cancel, _) => self.cancel(env),
            (Input::Retry, State::Held) => {
                env.push(Action::Discard);
                self.start(true, env);
            }

            (Input::Outcome { seq, outcome, failure }, State::Loading(attempt)) if attempt.seq == seq => {
                match attempt.phase {
                    // What has run out does not come back with the loss of a body.
                    Phase::Reading(Headers::Final(end @ End::Exhausted(..)))
                    | Phase::TimedOut(Some(Headers::Final(end @ End::Exhausted(..)))) => {
                        self.settle(end, Carry::Error, env);
                    }
                    Phase::InFlight | Phase::Reading(_) | Phase::TimedOut(_) => {
                        self.ended(outcome, failure, env);
                    }
                    Phase::Locking { .. } | Phase::Preparing | Phase::Judging(_) => return false,
                }
            }
            (Input::BodyRead { seq }, State::Loading(attempt)) if attempt.seq == seq => match attempt.phase {
                Phase::Reading(headers) => self.body_read(headers, env),
                _ => return false,
            },
            (Input::NotAResponse { seq }, State::Loading(attempt)) if attempt.seq == seq => {
                self.fail(FailReason::InvalidRequest, env);
            }
            (Input::ShouldRetry(asked), State::Loading(Loading { phase: Phase::Judging(failed), .. })) => {
                let failed = Failed { asked, ..*failed };
                self.vouched = asked == Some(true);
                self.judge(failed, env);
            }
            (Input::Delay(wait), State::Loading(Loading { phase: Phase::Judging(failed), .. })) => {
                let mut failed = *failed;
                if let Some(wait) = wait {
                    failed.wait = wait.max(self.setup.policy.retry.min_delay);
                    failed.source = Source::Custom;
                }
                self.retry(failed, env);
            }
            (
                Input::Locked { seq, lock },
                State::Loading(Loading { seq: asked, phase: Phase::Locking { .. }, .. }),
            ) if *asked == seq => self.locked(lock, env),
            (Input::Prepared, State::Loading(Loading { phase: Phase::Preparing, .. })) => self.send(env),
            (Input::Threw, State::Loading(_) | State::Idle) => {
                self.fail(FailReason::CallbackThrew, env);
            }

            (Input::Timer, _) => self.timer(env),
            (Input::Offline, State::Waiting(Wait { floor, source, .. }))
                if self.setup.policy.on_offline == OnOffline::Wait =>
            {
                let (floor, source) = (*floor, *source);
                self.go_offline(floor, source, env);
            }
            // Offline once more, before it could go on.
            (Input::Offline, State::Offline { floor, source, .. }) => {
                let (floor, source) = (*floor, *source);
                self.go_offline(floor, source, env);
            }
            (Input::Online, State::Offline { floor, source, .. }) => {
                let (floor, source) = (*floor, *source);
                let until = env.now + self.resume_delay(env);
                if floor > until {
                    self.wait(floor, floor, source, env);
                } else {
                    self.state = State::Offline { until, floor, source };
                    self.tell(View::Offline { next_probe: until }, env);
                }
            }
            (Input::Online, State::Waiting(Wait { until, floor, source, .. })) => {
                let (until, floor, source) = (*until, *floor, *source);
                let sooner = (env.now + self.resume_delay(env)).max(floor);
                if sooner < until {
                    self.wait(sooner, floor, source, env);
                }
            }
            (Input::Turn, State::Queued { floor, source, .. }) => {
                let (floor, source) = (*floor, *source);
                if floor > env.now {
                    self.wait(floor, floor, source, env);
                } else {
                    self.attempt(false, true, env);
                }
            }
            (Input::Refused, State::Queued { refusal: told, floor, source, .. }) => {
                let refusal = env.breaker.as_ref().and_then(|breaker| breaker.refusal(false));
                let Some(refusal) = refusal.filter(|refusal| refusal != told) else {
                    return false;
                };
                let (floor, source) = (*floor, *source);
                self.queue(refusal, floor, source, env);
            }
            (Input::Place(at), State::Queued { floor, source, .. }) => {
                let refusal = Refusal { retry_at: Some(at), probe_in_flight: false };
                let (floor, source) = (*floor, *source);
                self.queue(refusal, floor, source, env);
            }
            (Input::RetryNow, State::Waiting(_) | State::Offline { .. } | State::Queued { .. }) => {
                if self.refusal(true, env).is_some() {
                    return false;
                }
                self.send_attempt(true, env);
            }
            _ => return false,
        }
        true
    }

    // ------------------------------------------------------------ edges

    /// Why the circuit would not let it through now, by the options of this call.
    fn refusal(&self, click: bool, env: &Env<'_>) -> Option<Refusal> {
        let (breaker, policy) = (env.breaker.as_deref()?, self.setup.policy.breaker.as_ref()?);
        breaker.refusal_by(policy, click)
    }

    fn start(&mut self, click: bool, env: &mut Env<'_>) {
        self.attempt = 0;
        self.previous = None;
        self.vouched = false;
        self.total = self.setup.policy.total_timeout.map_or(Instant::NEVER, |total| env.now + total);
        self.attempt(click || self.setup.run > 1, true, env);
    }

    /// Whether the time for the whole run is over by then.
    fn ends_by(&self, at: Instant) -> bool {
        self.total != Instant::NEVER && at >= self.total
    }

    /// The next attempt, if the browser is not offline. One that is not `placed` may have to wait until others have
    /// gone.
    fn attempt(&mut self, click: bool, placed: bool, env: &mut Env<'_>) {
        if env.online || self.setup.policy.on_offline == OnOffline::Ignore {
            self.go(click, placed, env);
        } else {
            self.stay_offline(Instant::default(), Source::Backoff, env);
        }
    }

    /// The next attempt, whatever the browser says of the network.
    fn go(&mut self, click: bool, placed: bool, env: &mut Env<'_>) {
        // A circuit that refuses says more than the server's wish to be left alone.
        let refused = !click && self.refusal(false, env).is_some();
        if click || refused || !(self.stay_away(env) || !placed && self.give_way(env)) {
            self.send_attempt(click, env);
        }
    }

    /// The next attempt, if the circuit lets it through.
    fn send_attempt(&mut self, click: bool, env: &mut Env<'_>) {
        let policy = Arc::clone(&self.setup.policy);
        let now = env.now;
        let admitted = policy.breaker.and_then(|breaker| {
            env.with_breaker(|circuit, _| circuit.admit(breaker, policy.probe_lease(&breaker), click, now))
        });
        let token = match admitted.transpose() {
            Ok(token) => token,
            Err(refusal) => return self.refused(refusal, now, Source::Backoff, env),
        };
        let delay = match self.state {
            State::Waiting(wait) => wait.delay,
            _ => Span::ZERO,
        };
        if env.shared && token.is_some_and(Token::is_probe) {
            *env.seq = env.seq.wrapping_add(1);
            let phase = Phase::Locking { delay };
            self.state = State::Loading(Loading {
                seq: *env.seq,
                token,
                started: now,
                deadline: Some(now + LOCK_WITHIN),
                probe: true,
                kept_alive: false,
                clicked: click,
                phase,
            });
            return env.push(Action::Lock { seq: *env.seq });
        }
        self.begin(token, click, delay, env);
    }

    /// The lock of the key was granted, or not.
    fn locked(&mut self, lock: Lock, env: &mut Env<'_>) {
        let State::Loading(Loading { seq, token, clicked, phase: Phase::Locking { delay }, .. }) = self.state
        else {
            return;
        };
        let stale =
            env.breaker.as_deref().zip(token).is_some_and(|(breaker, token)| !breaker.is_current(token));
        if stale {
            // The answer took its time, and the circuit is not what it was.
            env.push(Action::Unlock { seq });
            return self.send_attempt(clicked, env);
        }
        let policy = &self.setup.policy;
        let told = match lock {
            Lock::Granted => Some(ASK_AGAIN),
            Lock::Missing => policy.breaker.map(|breaker| policy.probe_lease(&breaker)),
            Lock::Taken => None,
        };
        if let Some(wait) = told {
            let until = env.now + wait;
            env.with_breaker(|breaker, _| breaker.promise(until));
            env.share(News::Probe(until));
            return self.begin(token, clicked, delay, env);
        }
        env.release(seq, token);
        let again = env.now + ASK_AGAIN;
        env.with_breaker(|breaker, _| breaker.wait_for(again));
        let taken = Refusal { retry_at: None, probe_in_flight: true };
        self.refused(taken, env.now, Source::Backoff, env);
    }

    /// The attempt begins, and is told of.
    fn begin(&mut self, token: Option<Token>, click: bool, delay: Span, env: &mut Env<'_>) {
        let now = env.now;
        let probe = token.is_some_and(Token::is_probe);
        let lock = match &self.state {
            State::Loading(Loading { seq, phase: Phase::Locking { .. }, .. }) => Some(*seq),
            _ => None,
        };
        // The same attempt once more, without `keepalive`, is no other state.
        let same = lock.is_none()
            && matches!(self.state, State::Loading(Loading { probe: before, .. }) if before == probe);
        self.attempt = self.attempt.saturating_add(1);
        let seq = lock.unwrap_or_else(|| {
            *env.seq = env.seq.wrapping_add(1);
            *env.seq
        });
        self.state = State::Loading(Loading {
            seq,
            token,
            started: now,
            deadline: None,
            probe,
            kept_alive: false,
            clicked: click,
            phase: Phase::Preparing,
        });
        if !same {
            self.tell(View::Loading { probe }, env);
        }
        if self.setup.hooks.before_retry && self.attempt > 1 {
            env.push(Action::AskBeforeRetry { seq, attempt: self.attempt - 1, delay });
        } else {
            self.send(env);
        }
    }

    fn send(&mut self, env: &mut Env<'_>) {
        if let State::Loading(attempt) = &mut self.state {
            attempt.phase = Phase::InFlight;
            attempt.started = env.now;
            attempt.deadline = self.setup.policy.timeout.map(|timeout| env.now + timeout);
            env.push(Action::Send { seq: attempt.seq });
        }
    }

    /// The attempt has an outcome, or its body broke off.
    fn ended(&mut self, outcome: Outcome, failure: Option<bool>, env: &mut Env<'_>) {
        let State::Loading(attempt) = &mut self.state else {
            return;
        };
        let read_body = self.setup.policy.covers == Covers::Body;
        let now = env.now;
        self.last = Some(match outcome {
            Outcome::Answer { .. } => Carry::Response,
            Outcome::Network | Outcome::Timeout => Carry::Error,
        });
        if outcome.is_success() && read_body {
            attempt.phase = Phase::Reading(Headers::Success { failure });
            let seq = attempt.seq;
            self.sent = true;
            return env.push(Action::ReadBody { seq });
        }
        let duration = now - attempt.started;
        self.record(outcome, failure, env);
        let sent_before = core::mem::replace(&mut self.sent, true);
        if outcome.is_success() {
            self.earn(env);
            return self.settle(End::Success, Carry::Response, env);
        }
        env.push(Action::Failure { outcome, duration });
        self.park(outcome, env);
        let retry = &self.setup.policy.retry;
        let backoff = backoff::wait(retry, self.attempt.saturating_sub(1), self.previous, env.rng);
        self.previous = Some(backoff);
        let hint = match outcome {
            Outcome::Answer { hint: Some(hint), .. } => {
                let floor = now + hint.wait;
                Some((floor, floor + backoff::spread(hint.wait.tenth(), retry.jitter, env.rng)))
            }
            _ => None,
        };
        let wait = backoff.max(retry.min_delay);
        let failed = Failed { outcome, sent_before, wait, source: Source::Backoff, hint, asked: None };
        let may_retry =
            self.setup.traits.replayable && (self.attempt <= retry.limit || self.is_free(outcome));
        if self.setup.hooks.should_retry && may_retry {
            self.ask(failed, |seq, attempt, delay| Action::AskShouldRetry { seq, attempt, delay }, env);
        } else {
            self.judge(failed, env);
        }
    }

    fn ask(&mut self, failed: Failed, question: fn(u32, u32, Span) -> Action, env: &mut Env<'_>) {
        if let State::Loading(attempt) = &mut self.state {
            attempt.phase = Phase::Judging(failed);
            env.push(question(attempt.seq, self.attempt, failed.next(env.now).0 - env.now));
        }
    }

    fn judge(&mut self, failed: Failed, env: &mut Env<'_>) {
        let retry = &self.setup.policy.retry;
        let over = self.attempt > retry.limit;
        let free = self.is_free(failed.outcome);
        let verdict =
            classify::judge(retry, self.setup.traits, &failed.outcome, failed.sent_before, failed.asked);
        if verdict.is_ok() && !free {
            self.spend(env);
        }
        match verdict {
            Ok(()) if free && env.online => self.again_without_keepalive(env),
            Ok(()) if self.setup.hooks.delay && !over => {
                self.ask(failed, |seq, attempt, delay| Action::AskDelay { seq, attempt, delay }, env);
            }
            Ok(()) => self.retry(failed, env),
            // The table alone would not have come this far: what ended the call is the limit.
            Err(FailReason::Status | FailReason::NotIdempotent) if over && self.vouched => {
                self.exhausted(ExhaustedReason::Limit, failed.retry_at(), env);
            }
            Err(reason) => self.finish(End::Failed(reason), env),
        }
    }

    fn again_without_keepalive(&mut self, env: &mut Env<'_>) {
        self.plain = true;
        self.attempt = self.attempt.saturating_sub(1);
        self.attempt(false, true, env);
    }

    /// Another attempt would help and is allowed: when, unless something has run out.
    fn retry(&mut self, failed: Failed, env: &mut Env<'_>) {
        let policy = Arc::clone(&self.setup.policy);
        let (now, floor) = (env.now, failed.floor());
        let offline = !env.online && policy.on_offline != OnOffline::Ignore;
        let unheard = !matches!(failed.outcome, Outcome::Answer { .. });
        if offline && unheard && policy.on_offline == OnOffline::Wait {
            // It failed for want of a network, which is no attempt.
            self.attempt = self.attempt.saturating_sub(1);
        } else if self.attempt > policy.retry.limit {
            return self.exhausted(ExhaustedReason::Limit, failed.retry_at(), env);
        } else if !self.can_afford(env) {
            return self.exhausted(ExhaustedReason::Budget, failed.retry_at(), env);
        }
        let told = match failed.outcome {
            Outcome::Answer { hint: Some(hint), .. } => hint.wait,
            _ => Span::ZERO,
        };
        if told > policy.retry.max_retry_after || failed.retry_at().is_some_and(|at| self.ends_by(at)) {
            return self.exhausted(ExhaustedReason::RetryAfterTooLong, failed.retry_at(), env);
        }
        let (until, source) = failed.next(now);
        if self.ends_by(until) && !offline {
            return self.exhausted(ExhaustedReason::TotalTimeout, failed.retry_at(), env);
        }
        let refusal = self.refusal(false, env);
        // A probe that is out now may be back when the wait is over.
        let refusal = refusal
            .filter(|refusal| !refusal.probe_in_flight || policy.on_circuit_open == OnCircuitOpen::Wait);
        match refusal {
            Some(Refusal { retry_at: Some(at), .. })
                if self.ends_by(at) && policy.on_circuit_open == OnCircuitOpen::Wait =>
            {
                return self.exhausted(ExhaustedReason::TotalTimeout, Some(at), env);
            }
            _ => env.push(Action::Discard),
        }
        match refusal {
            _ if offline => self.stay_offline(floor, source, env),
            Some(refusal) => self.refused(refusal, until, source, env),
            None => self.wait(until, floor, source, env),
        }
    }

    fn wait(&mut self, until: Instant, floor: Instant, source: Source, env: &mut Env<'_>) {
        let delay = until - env.now;
        let wait = Wait { until, floor, shown: delay, delay, source, parked: None, placed: false };
        self.state = State::Waiting(wait);
        self.tell_wait(env);
    }

    fn tell_wait(&self, env: &mut Env<'_>) {
        if let State::Waiting(Wait { until, shown: remaining, delay, source, parked, .. }) = self.state {
            self.tell(View::Waiting { until, remaining, delay, source, parked }, env);
        }
    }

    /// If the server wants no call of this key now, waits, or ends where it has not the patience, and says so by true.
    fn stay_away(&mut self, env: &mut Env<'_>) -> bool {
        let retry = &self.setup.policy.retry;
        let Some(parked) = env.parked.filter(|parked| parked.until > env.now) else { return false };
        let away = parked.until - env.now;
        if away > retry.max_retry_after || self.ends_by(parked.until) {
            let end = End::Exhausted(ExhaustedReason::RetryAfterTooLong, Some(parked.until));
            self.settle(end, Carry::Parked, env);
            return true;
        }
        let floor = parked.until;
        let jittered = floor + backoff::spread(away.tenth(), retry.jitter, env.rng);
        let until = if self.ends_by(jittered) { floor } else { jittered };
        let delay = until - env.now;
        let (source, parked) = (Source::RetryAfter, Some(parked.status));
        let wait = Wait { until, floor, shown: delay, delay, source, parked, placed: false };
        self.state = State::Waiting(wait);
        self.tell_wait(env);
        true
    }

    /// A retry of a circuit that has closed a moment ago waits for the place that it is given, and says so by true.
    fn give_way(&mut self, env: &mut Env<'_>) -> bool {
        let State::Waiting(mut wait) = self.state else { return false };
        let now = env.now;
        let Some(until) = env.ramp.as_deref_mut().map(Ramp::take).filter(|until| *until > now) else {
            return false;
        };
        if self.ends_by(until) {
            return false;
        }
        wait = Wait { until, shown: until - now, delay: until - now, placed: true, ..wait };
        self.state = State::Waiting(wait);
        self.tell_wait(env);
        true
    }

    fn stay_offline(&mut self, floor: Instant, source: Source, env: &mut Env<'_>) {
        if self.setup.policy.on_offline == OnOffline::Wait {
            self.go_offline(floor, source, env);
        } else {
            self.settle(End::Failed(FailReason::Offline), Carry::Offline, env);
        }
    }

    fn go_offline(&mut self, floor: Instant, source: Source, env: &mut Env<'_>) {
        let until = (env.now + connectivity::PROBE_EVERY).max(floor);
        self.state = State::Offline { until, floor, source };
        self.tell(View::Offline { next_probe: until }, env);
    }

    fn resume_delay(&self, env: &mut Env<'_>) -> Span {
        let policy = &self.setup.policy;
        let within = match policy.budget {
            Some(budget) if budget.fleet == Fleet::Large => connectivity::RESUME_WITHIN_LARGE,
            _ => connectivity::RESUME_WITHIN,
        };
        backoff::spread(within, policy.retry.jitter, env.rng)
    }

    fn refused(&mut self, refusal: Refusal, floor: Instant, source: Source, env: &mut Env<'_>) {
        if self.setup.policy.on_circuit_open == OnCircuitOpen::Wait {
            self.queue(refusal, floor, source, env);
        } else {
            let remaining = refusal.retry_at.map_or(Span::ZERO, |at| at - env.now);
            self.settle(End::CircuitOpen(refusal, remaining), Carry::CircuitOpen, env);
        }
    }

    fn queue(&mut self, refusal: Refusal, floor: Instant, source: Source, env: &mut Env<'_>) {
        if refusal.retry_at.is_some_and(|at| self.ends_by(at)) {
            return self.total_timeout(refusal.retry_at, env);
        }
        let told = turn(refusal, floor);
        // What the circuit says may change and mean the same to a call with a longer wait of its own.
        let shown = match self.state {
            State::Queued { refusal, floor, shown, .. } if turn(refusal, floor) == told => Some(shown),
            _ => None,
        };
        let remaining = shown.unwrap_or_else(|| told.retry_at.map_or(Span::ZERO, |at| at - env.now));
        self.state = State::Queued { refusal, floor, shown: remaining, source };
        if shown.is_none() {
            self.tell(View::Queued { refusal: told, remaining }, env);
        }
    }

    fn timer(&mut self, env: &mut Env<'_>) {
        let now = env.now;
        if self.ends_by(now) {
            return self.total_timeout(None, env);
        }
        match &mut self.state {
            State::Loading(Loading { phase: Phase::Locking { .. }, deadline: Some(deadline), .. })
                if *deadline <= now =>
            {
                self.locked(Lock::Missing, env);
            }
            State::Loading(attempt) => {
                let timed = matches!(attempt.phase, Phase::InFlight | Phase::Reading(_));
                if timed && attempt.deadline.is_some_and(|deadline| deadline <= now) {
                    attempt.phase = Phase::TimedOut(match attempt.phase {
                        Phase::Reading(headers) => Some(headers),
                        _ => None,
                    });
                    let seq = attempt.seq;
                    env.push(Action::Abort { seq, why: AbortReason::Timeout });
                }
            }
            State::Waiting(wait) if wait.until <= now => {
                let placed = wait.placed;
                self.attempt(false, placed, env);
            }
            // Back online, or to see whether the browser is wrong.
            State::Offline { until, .. } if *until <= now => self.go(false, true, env),
            _ => self.tick(env),
        }
    }

    fn tick(&mut self, env: &mut Env<'_>) {
        let Some(step) = self.step() else { return };
        let Some((until, last)) = self.countdown() else {
            return;
        };
        let remaining = (until - env.now).round_up(step);
        if remaining >= last {
            return;
        }
        match &mut self.state {
            State::Waiting(wait) => {
                wait.shown = remaining;
                self.tell_wait(env);
            }
            State::Queued { refusal, floor, shown, .. } => {
                *shown = remaining;
                let view = View::Queued { refusal: turn(*refusal, *floor), remaining };
                self.tell(view, env);
            }
            _ => {}
        }
    }

    /// A `Retry-After` is for all calls of the key.
    fn park(&self, outcome: Outcome, env: &mut Env<'_>) {
        if let Outcome::Answer { status: status @ (429 | 503), hint: Some(hint) } = outcome
            && hint.source == HintSource::RetryAfter
        {
            let until = env.now + hint.wait.min(Span::LONGEST);
            let longer = env.parked.is_none_or(|parked| parked.until < until);
            if longer {
                env.parked = Some(Parked { until, status });
            }
        }
    }

    // ------------------------------------------------------------ the budget

    /// Does something with the budget of its key, if it has one.
    fn with_budget<T>(
        &self,
        env: &mut Env<'_>,
        act: impl FnOnce(&mut Bucket, &Budget, Instant) -> T,
    ) -> Option<T> {
        let policy = self.setup.policy.budget.as_ref()?;
        let (now, rng) = (env.now, &mut *env.rng);
        let bucket = env.budget.as_deref_mut()?.get_or_insert_with(|| Bucket::new(policy, now, rng));
        Some(act(bucket, policy, now))
    }

    /// What a person wanted is free, and so is what fails for want of a network.
    fn spend(&self, env: &mut Env<'_>) {
        let clicked = matches!(self.state, State::Loading(Loading { clicked: true, .. }));
        if env.online && !clicked && self.with_budget(env, Bucket::charge).is_some() {
            env.share(News::Budget(-(Budget::TOKEN as i64)));
        }
    }

    /// The first attempt has succeeded.
    fn earn(&self, env: &mut Env<'_>) {
        let clicked = matches!(self.state, State::Loading(Loading { clicked: true, .. }));
        if self.attempt == 1
            && !clicked
            && let Some(earned) = self.with_budget(env, |bucket, policy, now| {
                bucket.credit(policy, now);
                policy.ratio
            })
        {
            env.share(News::Budget(earned as i64));
        }
    }

    fn can_afford(&self, env: &mut Env<'_>) -> bool {
        self.with_budget(env, Bucket::allows).unwrap_or(true)
    }

    // ------------------------------------------------------------ ends

    fn record(&mut self, outcome: Outcome, failure: Option<bool>, env: &mut Env<'_>) {
        let free = self.is_free(outcome);
        let State::Loading(attempt) = &mut self.state else {
            return;
        };
        let Some(token) = attempt.token.take() else {
            return;
        };
        let seq = attempt.seq;
        if !env.online || free {
            // Says nothing about the server.
            return env.release(seq, Some(token));
        }
        env.unlock(seq, token);
        let verdict = classify::for_circuit(&outcome, failure);
        let hint = match outcome {
            Outcome::Answer { hint: Some(hint), .. } => hint.wait,
            _ => Span::ZERO,
        };
        let (now, duration) = (env.now, env.now - attempt.started);
        env.with_breaker(|breaker, rng| breaker.record(token, verdict, duration, hint, now, rng));
    }

    fn body_read(&mut self, headers: Headers, env: &mut Env<'_>) {
        match headers {
            Headers::Success { failure } => {
                let good = Outcome::Answer { status: 200, hint: None };
                self.record(good, failure, env);
                self.earn(env);
                self.settle(End::Success, Carry::Response, env);
            }
            Headers::Final(end) => self.settle(end, Carry::Response, env),
        }
    }

    /// Ends with what the last attempt left, once its body is here where the body belongs to the attempt.
    fn finish(&mut self, end: End, env: &mut Env<'_>) {
        let carry = self.last.unwrap_or(Carry::TotalTimeout);
        if let (State::Loading(attempt), Covers::Body, Carry::Response) =
            (&mut self.state, self.setup.policy.covers, carry)
        {
            attempt.phase = Phase::Reading(Headers::Final(end));
            let seq = attempt.seq;
            env.push(Action::ReadBody { seq });
        } else {
            self.settle(end, carry, env);
        }
    }

    fn exhausted(&mut self, reason: ExhaustedReason, retry_at: Option<Instant>, env: &mut Env<'_>) {
        self.finish(End::Exhausted(reason, retry_at), env);
    }

    fn total_timeout(&mut self, retry_at: Option<Instant>, env: &mut Env<'_>) {
        let now = env.now;
        let end = End::Exhausted(ExhaustedReason::TotalTimeout, retry_at);
        let judging = matches!(self.state, State::Loading(Loading { phase: Phase::Judging(_), .. }));
        // Anywhere else the last response is given up already, or there never was one.
        let carry = self.last.filter(|_| judging).unwrap_or(Carry::TotalTimeout);
        let running = match &self.state {
            State::Loading(Loading { phase: Phase::InFlight | Phase::Reading(_), started, .. }) => {
                Some(now - *started)
            }
            _ => None,
        };
        self.leave(AbortReason::TotalTimeout, env);
        if let Some(duration) = running {
            env.push(Action::Failure { outcome: Outcome::Timeout, duration });
        }
        self.settle(end, carry, env);
    }

    fn fail(&mut self, reason: FailReason, env: &mut Env<'_>) {
        env.push(Action::Discard);
        self.leave(AbortReason::Cancelled, env);
        self.settle(End::Failed(reason), Carry::Error, env);
    }

    fn cancel(&mut self, env: &mut Env<'_>) {
        env.push(Action::Discard);
        self.leave(AbortReason::Cancelled, env);
        self.settle(End::Cancelled, Carry::Reason, env);
    }

    /// Stops the attempt and gives its permit back.
    fn leave(&mut self, why: AbortReason, env: &mut Env<'_>) {
        if let State::Loading(attempt) = &mut self.state {
            let (seq, token) = (attempt.seq, attempt.token.take());
            // While a hook thinks, its signal is all that is left of the attempt, unless its answer goes to the caller.
            let running = match attempt.phase {
                Phase::InFlight | Phase::Reading(_) => true,
                Phase::Preparing | Phase::Judging(_) => why == AbortReason::Cancelled,
                Phase::TimedOut(_) | Phase::Locking { .. } => false,
            };
            if running {
                env.push(Action::Abort { seq, why });
            }
            env.release(seq, token);
        }
    }

    fn settle(&mut self, end: End, carry: Carry, env: &mut Env<'_>) {
        let attempt = self.attempt;
        let carry = match (carry, end) {
            (Carry::Response, End::Failed(_) | End::Exhausted(..)) if self.setup.policy.throw_http_errors => {
                Carry::HttpError
            }
            _ => carry,
        };
        match end {
            End::Exhausted(reason, retry_at) if self.setup.policy.on_exhausted == OnExhausted::Hold => {
                self.state = State::Held;
                self.tell(View::Held { reason, retry_at, carry }, env);
            }
            _ => {
                self.state = State::Done;
                env.push(Action::Settle { attempt, end, carry });
            }
        }
    }

    fn tell(&self, view: View, env: &mut Env<'_>) {
        env.push(Action::State { attempt: self.attempt, view });
    }
}
