//! Carries out what the core commands, and hands it what happened.
//!
//! All commands are drained before the next input; what JavaScript does meanwhile (a listener that starts a call, a
//! hook that aborts one) is handed to the core at once, and its commands join the end of the queue.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Function, JsString, TypeError};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::Response;

use super::clock::{Alarm, TwoClocks};
use super::js::{Host, Run};
use super::options::{Key, Settings};
use crate::core::call::{self, AbortReason, Action, Carry, Command, End, Input, Setup};
use crate::core::classify::{Outcome, Traits};
use crate::core::connectivity::Page;
use crate::core::engine::Engine;
use crate::core::hints::{Hint, Timing};
use crate::core::keepalive::Quota;
use crate::core::registry::{self, CircuitId};
use crate::core::time::{Instant, Span};

/// What JavaScript holds of a call under way.
pub(super) struct Live {
    pub run: Run,
    pub settings: Settings,
    /// The response at hand.
    pub response: RefCell<JsValue>,
    /// The error of the last attempt, of a hook or of the request.
    pub error: RefCell<JsValue>,
    /// Why the caller does not want it any more.
    pub reason: RefCell<JsValue>,
    /// The caller has given it up.
    given_up: Cell<bool>,
}

impl Live {
    fn new(run: Run, settings: Settings) -> Self {
        let none = || RefCell::new(JsValue::UNDEFINED);
        Self { run, settings, response: none(), error: none(), reason: none(), given_up: Cell::new(false) }
    }
}

/// The engine and its hands.
pub(super) struct Core {
    pub host: Host,
    pub engine: RefCell<Engine>,
    pub clocks: TwoClocks,
    alarm: Alarm,
    live: RefCell<Vec<Option<Rc<Live>>>>,
    draining: Cell<bool>,
    listening: Cell<u32>,
    version: Cell<u32>,
}

/// A key is a name: a thousand of them are kept, and other tabs are told of them.
pub(super) const LONGEST_KEY: u32 = 2_048;

thread_local! {
    /// All clients of a page share what the browser lends to the page.
    static QUOTA: RefCell<Quota> = const { RefCell::new(Quota::new()) };
}

/// An attempt that [`Core::keep_alive`] let be sent is over.
pub(super) fn release(bytes: u32) {
    QUOTA.with_borrow_mut(|quota| quota.release(bytes));
}

/// Which hook is asked; the numbers are those of `Run.ask_`.
#[derive(Clone, Copy)]
enum Question {
    ShouldRetry,
    Delay,
    BeforeRetry,
}

impl Question {
    const ALL: [Self; 3] = [Self::ShouldRetry, Self::Delay, Self::BeforeRetry];
}

impl Core {
    pub fn new(host: Host) -> Rc<Self> {
        let seed = getrandom::u64().unwrap_or_else(|_| js_sys::Date::now().to_bits());
        let page = page(&host);
        Rc::new(Self {
            host,
            engine: RefCell::new(Engine::new(seed, page)),
            clocks: TwoClocks::new(),
            alarm: Alarm::default(),
            live: RefCell::default(),
            draining: Cell::new(false),
            listening: Cell::new(0),
            version: Cell::new(0),
        })
    }

    // ------------------------------------------------------------ inputs

    /// What time it is, with the page as it is now.
    pub fn now(&self) -> Instant {
        let now = self.clocks.now(&self.host);
        self.engine.borrow_mut().set_page(page(&self.host), now);
        now
    }

    /// Begins a call; whatever is wrong with it ends it.
    pub fn start(&self, settings: &Settings, run: Run, number: u32, options: &JsValue) {
        let (read, invalid) = match settings.overlaid(options) {
            Ok(settings) => (settings, None),
            Err(error) => (settings.clone(), Some(error)),
        };
        // A call that joins in what its client takes no part in would hear nothing.
        let alone = settings.shared() || !read.shared();
        let invalid = invalid.or_else(|| {
            let text = "steadfetch: breaker.share is an option of createFetch() and extend()";
            (!alone).then(|| TypeError::new(text).into())
        });
        let live = Rc::new(Live::new(run, read));
        let opened = match invalid {
            Some(error) => Err((Input::Invalid, error)),
            None => self.open(&live),
        };
        let nothing = Traits { listed: false, keyed: false, replayable: false };
        let (traits, circuit, input) = opened.unwrap_or_else(|(input, error)| {
            live.error.replace(error);
            (nothing, None, input)
        });
        let Settings { policy, hooks } = live.settings.clone();
        let (debug, trace) = (hooks.debug, hooks.trace);
        let limit = policy.retry.limit;
        let max_attempts = if limit == u32::MAX { f64::INFINITY } else { f64::from(limit) + 1.0 };
        let hooks = call::Hooks {
            should_retry: hooks.should_retry.is_some(),
            delay: hooks.delay.is_some(),
            before_retry: hooks.before_retry.is_some(),
        };
        let slot = self.engine.borrow_mut().insert(Setup { policy, circuit, traits, hooks, run: number });
        {
            let mut all = self.live.borrow_mut();
            let places = all.len().max(slot as usize + 1);
            all.resize(places, None);
            if let Some(place) = all.get_mut(slot as usize) {
                *place = Some(Rc::clone(&live));
            }
        }
        // Hooks have run meanwhile, and any of them may have given the call up.
        let input = match (live.run.begin(slot, number, max_attempts, debug, trace), input) {
            (true, _) => {
                live.reason.replace(live.run.reason());
                Input::Cancel
            }
            (false, input) => input,
        };
        self.handle(slot, input);
    }

    /// Builds the request, its key and its circuit, and says how the call begins. On failure: what to tell the
    /// core, and what was thrown.
    fn open(&self, live: &Live) -> Result<(Traits, Option<CircuitId>, Input), (Input, JsValue)> {
        let Settings { policy, hooks } = &live.settings;
        let run = &live.run;
        let flags = run.open(&hooks.key_header).map_err(|error| (Input::Invalid, error))?;
        let has = |bit: u32| flags & bit != 0;
        let listed = policy.retry.methods.contains(&run.method());
        let mut traits = Traits { listed, keyed: has(2), replayable: has(1) };
        if has(4) {
            live.reason.replace(run.reason());
            return Ok((traits, None, Input::Cancel));
        }
        if has(8) {
            let text = "steadfetch: the body of this call was a stream, and it is gone";
            return Err((Input::Spent, TypeError::new(text).into()));
        }
        if !traits.keyed {
            let key = match &hooks.key {
                Key::Make(make) => Some(make.call1(&JsValue::UNDEFINED, &run.request())),
                Key::Fixed(key) => Some(Ok(key.clone())),
                Key::Auto => Some(Ok(uuid().into())),
                Key::None => None,
            };
            if let Some(key) = key {
                let key = key.map_err(|error| (Input::Threw, error))?;
                if key.as_string().is_none_or(|key| key.is_empty()) {
                    let text = "steadfetch: idempotencyKey must return a string that is not empty";
                    return Err((Input::Threw, TypeError::new(text).into()));
                }
                let key = if hooks.key_quoted { quoted(&key)? } else { key };
                if run.key(&key).map_err(|error| (Input::Invalid, error))? {
                    live.reason.replace(run.reason());
                    return Ok((traits, None, Input::Cancel));
                }
                traits.keyed = true;
            }
        }
        if policy.breaker.is_none() && policy.budget.is_none() {
            return Ok((traits, None, Input::Start));
        }
        let now = self.now();
        let made;
        let url;
        let key = match &hooks.circuit_key {
            None => {
                url = run.url();
                registry::origin(&url)
            }
            Some(make) => {
                let key = make.call1(&JsValue::UNDEFINED, &run.request()).map_err(|e| (Input::Threw, e))?;
                let short = key.dyn_ref::<JsString>().is_some_and(|key| key.length() <= LONGEST_KEY);
                let rule = || {
                    TypeError::new("steadfetch: breaker.key must return a string of at most 2048 characters")
                        .into()
                };
                made = short.then(|| key.as_string()).flatten().ok_or_else(|| (Input::Threw, rule()))?;
                &made
            }
        };
        let circuit = self.engine.borrow_mut().resolve(key, policy.breaker, now);
        Ok((traits, Some(circuit), Input::Start))
    }

    /// Hands the core one input and carries out what follows. True if it had an effect.
    pub fn handle(&self, slot: u32, input: Input) -> bool {
        let now = self.now();
        let effect = self.engine.borrow_mut().handle(slot, input, now);
        self.drain();
        effect
    }

    /// The caller's signal, `cancel()` or `dispose()`. Of several calls those that are `queued` go first: else one
    /// would be sent in the place of another that has just gone.
    pub fn cancel(&self, slot: u32, reason: JsValue, queued: bool) {
        let Some(live) = self.live(slot) else { return };
        if queued && !self.engine.borrow().is_queued(slot) {
            return;
        }
        // The first reason counts, also while its end, or another one, is still in the queue.
        if !live.given_up.replace(true) {
            live.reason.replace(reason);
            if queued {
                let now = self.now();
                self.engine.borrow_mut().drop_out(slot, now);
                self.drain();
            } else {
                self.handle(slot, Input::Cancel);
            }
        }
    }

    /// Cancels every call that is pending.
    pub fn cancel_all(&self, reason: &JsValue) {
        let slots = self.live.borrow().len() as u32;
        for queued in [true, false] {
            for slot in 0..slots {
                self.cancel(slot, reason.clone(), queued);
            }
        }
    }

    /// `fetch` settled: with a response of this status, or below zero with an error (-1) or with something that is
    /// no response (-2).
    pub fn settled(&self, slot: u32, seq: u32, status: i32, value: JsValue) {
        if !self.engine.borrow().awaits(slot, seq) {
            if status >= 0 {
                self.host.discard(&value);
            }
            return;
        }
        let Ok(status) = u16::try_from(status) else {
            self.with(slot, |live| {
                live.response.replace(JsValue::UNDEFINED);
                live.error.replace(value)
            });
            if status == -1 {
                self.outcome(slot, seq, Outcome::Network);
            } else {
                self.handle(slot, Input::NotAResponse { seq });
            }
            return;
        };
        let hint = if status < 400 { None } else { self.hint(&value) };
        self.with(slot, |live| live.response.replace(value));
        self.outcome(slot, seq, Outcome::Answer { status, hint });
    }

    /// A body factory threw, or what it made is no body.
    pub fn unsent(&self, slot: u32, seq: u32, threw: bool, error: JsValue) {
        if self.engine.borrow().awaits(slot, seq) {
            self.with(slot, |live| live.error.replace(error));
            self.handle(slot, if threw { Input::Threw } else { Input::NotAResponse { seq } });
        }
    }

    fn outcome(&self, slot: u32, seq: u32, outcome: Outcome) {
        let Some(live) = self.live(slot) else { return };
        let mut failure = None;
        if let Some(is_failure) = &live.settings.hooks.is_failure {
            let answered = matches!(outcome, Outcome::Answer { .. });
            let value = if answered { &live.response } else { &live.error }.borrow().clone();
            match is_failure.call1(&JsValue::UNDEFINED, &self.host.outcome(answered, &value)) {
                Ok(answer) => failure = answer.as_bool(),
                Err(error) => return self.threw(slot, error),
            }
        }
        self.handle(slot, Input::Outcome { seq, outcome, failure });
    }

    fn hint(&self, response: &JsValue) -> Option<Hint> {
        let headers = response.unchecked_ref::<Response>().headers();
        let get = |name| headers.get(name).ok().flatten();
        let retry_after = get("Retry-After");
        let rate_limit_reset = get("RateLimit-Reset");
        let x_rate_limit_reset = get("X-RateLimit-Reset");
        let date = get("Date");
        let timing = Timing {
            retry_after: retry_after.as_deref(),
            rate_limit_reset: rate_limit_reset.as_deref(),
            x_rate_limit_reset: x_rate_limit_reset.as_deref(),
            date: date.as_deref(),
            aged: get("Age").is_some(),
        };
        Hint::read(&timing, js_sys::Date::now())
    }

    fn threw(&self, slot: u32, error: JsValue) {
        self.with(slot, |live| live.error.replace(error));
        self.handle(slot, Input::Threw);
    }

    /// The page may have changed, or time have passed unseen.
    pub fn wake(&self) {
        let now = self.now();
        while self.engine.borrow_mut().wake(now) {
            self.drain();
        }
        self.drain();
    }

    // ------------------------------------------------------------ commands

    /// Carries out all commands, unless that is under way already further up the stack.
    pub fn drain(&self) {
        if self.draining.replace(true) {
            return;
        }
        let mut batch = Vec::new();
        loop {
            self.engine.borrow_mut().take_commands(&mut batch);
            if batch.is_empty() {
                break;
            }
            for command in batch.drain(..) {
                self.carry_out(command);
            }
        }
        self.draining.set(false);
        self.set_alarm();
        self.tell_changes();
    }

    fn carry_out(&self, Command { slot, action }: Command) {
        if let Action::Circuit(_) | Action::Share(_) = action {
            let key = self.engine.borrow().circuit(CircuitId(slot)).map(|entry| entry.key().to_owned());
            match (key, action) {
                (Some(key), Action::Circuit(view)) => {
                    self.tell_circuit(&key, view, true);
                }
                (Some(key), Action::Share(news)) => self.tell_tabs(&key, news),
                _ => {}
            }
            return;
        }
        let Some(live) = self.live(slot) else { return };
        let hooks = &live.settings.hooks;
        match action {
            Action::Send { seq } => {
                if self.engine.borrow().is_current(slot, seq) {
                    live.response.replace(JsValue::UNDEFINED);
                    live.error.replace(JsValue::UNDEFINED);
                    live.run.send(seq, live.settings.policy.retry.limit > 0, &hooks.fetch);
                }
            }
            // Where the end has overtaken the limit, its own abort comes next.
            Action::Abort { seq, why: AbortReason::Timeout }
                if !self.engine.borrow().is_current(slot, seq) => {}
            Action::Abort { seq, why } => {
                let reason = match why {
                    AbortReason::Cancelled => live.reason.borrow().clone(),
                    AbortReason::Timeout => self.timeout(0, live.settings.policy.timeout),
                    AbortReason::TotalTimeout => self.timeout(1, live.settings.policy.total_timeout),
                };
                live.run.abort(&reason);
                if why != AbortReason::Cancelled {
                    live.error.replace(reason);
                }
                // Whoever heard of it may have given the call up.
                if why == AbortReason::Timeout && self.engine.borrow().is_current(slot, seq) {
                    self.outcome(slot, seq, Outcome::Timeout);
                }
            }
            Action::ReadBody { seq } => {
                let response = live.response.borrow().clone();
                live.run.read(seq, &response);
            }
            Action::Discard => {
                let response = live.response.borrow().clone();
                // `beforeRetry` may still look at its status and headers.
                if hooks.before_retry.is_none() {
                    live.response.replace(JsValue::UNDEFINED);
                }
                if !response.is_undefined() {
                    self.host.discard(&response);
                }
            }
            Action::AskShouldRetry { seq, attempt, delay } => {
                self.ask(slot, seq, Question::ShouldRetry, hooks.should_retry.as_ref(), attempt, delay);
            }
            Action::AskDelay { seq, attempt, delay } => {
                self.ask(slot, seq, Question::Delay, hooks.delay.as_ref(), attempt, delay);
            }
            Action::AskBeforeRetry { seq, attempt, delay } => {
                self.ask(slot, seq, Question::BeforeRetry, hooks.before_retry.as_ref(), attempt, delay);
            }
            Action::Failure { outcome, duration } => self.tell_failure(&live, outcome, duration),
            Action::State { attempt, view } => self.tell_state(slot, &live, attempt, view),
            Action::Settle { attempt, end, carry } => {
                if let Some(place) = self.live.borrow_mut().get_mut(slot as usize) {
                    *place = None;
                }
                if live.given_up.get() && end != End::Cancelled {
                    // A listener gave it up before anyone was told of another end.
                    self.host.discard(&live.response.borrow());
                    self.tell_end(slot, &live, attempt, End::Cancelled, Carry::Reason);
                } else {
                    self.tell_end(slot, &live, attempt, end, carry);
                }
                self.engine.borrow_mut().remove(slot);
            }
            Action::Lock { seq } => {
                let key = self.engine.borrow().circuit_of(slot).map(|entry| entry.key().to_owned());
                live.run.lock(seq, &key.unwrap_or_default());
            }
            Action::Unlock { seq } => live.run.unlock(seq),
            Action::Circuit(_) | Action::Share(_) => {}
        }
    }

    fn ask(
        &self,
        slot: u32,
        seq: u32,
        question: Question,
        hook: Option<&Function>,
        attempt: u32,
        delay: Span,
    ) {
        let (Some(live), Some(hook)) = (self.live(slot), hook) else {
            return;
        };
        // A listener that was just told may have given the call up.
        if !self.engine.borrow().is_current(slot, seq) {
            return;
        }
        let (response, error) = (live.response.borrow().clone(), live.error.borrow().clone());
        live.run.ask(seq, question as u32, hook, attempt, delay.as_ms().ceil(), &response, &error);
    }

    /// A hook answered, or threw.
    pub fn answered(&self, slot: u32, seq: u32, question: u32, threw: bool, answer: JsValue) {
        let question = Question::ALL.get(question as usize);
        let (Some(question), true) = (question, self.engine.borrow().is_current(slot, seq)) else {
            return;
        };
        if threw {
            return self.threw(slot, answer);
        }
        let input = match question {
            Question::ShouldRetry => Input::ShouldRetry(answer.as_bool()),
            Question::Delay if answer.is_undefined() => Input::Delay(None),
            Question::Delay => match answer.as_f64().filter(|ms| ms.is_finite()) {
                Some(ms) => Input::Delay(Some(Span::from_ms(ms))),
                None => {
                    let text = "steadfetch: retry.delay must return a finite number of milliseconds";
                    return self.threw(slot, TypeError::new(text).into());
                }
            },
            Question::BeforeRetry => {
                if answer.is_object()
                    && let Some(live) = self.live(slot)
                    && let Err(error) = live.run.replace(&answer)
                {
                    return self.threw(slot, error);
                }
                Input::Prepared
            }
        };
        self.handle(slot, input);
    }

    /// The body is here, and with it a response that equals the one it came with.
    pub fn body_read(&self, slot: u32, seq: u32, equal: JsValue) {
        if self.engine.borrow().awaits(slot, seq) {
            self.with(slot, |live| live.response.replace(equal));
            self.handle(slot, Input::BodyRead { seq });
        }
    }

    /// Whether the attempt is sent with `keepalive`. Then [`release`] comes when it is over.
    pub fn keep_alive(&self, slot: u32, seq: u32, bytes: u32) -> bool {
        QUOTA.with_borrow_mut(|quota| self.engine.borrow_mut().keep_alive(slot, seq, bytes, quota))
    }

    // ------------------------------------------------------------ the rest

    fn timeout(&self, scope: u32, limit: Option<Span>) -> JsValue {
        self.host.timeout(scope, limit.unwrap_or(Span::MAX).as_ms())
    }

    fn live(&self, slot: u32) -> Option<Rc<Live>> {
        self.live.borrow().get(slot as usize)?.clone()
    }

    fn with(&self, slot: u32, change: impl FnOnce(&Live) -> JsValue) {
        if let Some(live) = self.live(slot) {
            change(&live);
        }
    }

    fn set_alarm(&self) {
        let (at, now, busy) = {
            let engine = self.engine.borrow();
            (engine.next_timeout(), engine.now(), engine.is_busy())
        };
        self.alarm.set(at, now, busy, &self.host);
    }

    /// Whether someone looks at the circuits or the client.
    pub fn observe(&self, observed: bool) {
        self.now();
        self.engine.borrow_mut().set_observed(observed);
        self.drain();
    }

    /// The timer is due.
    pub fn rang(&self) {
        self.alarm.rang();
        self.wake();
    }

    /// The page is listened to only while something depends on it.
    fn tell_changes(&self) {
        let (version, listen) = {
            let engine = self.engine.borrow();
            (engine.version(), u32::from(engine.is_busy()) | u32::from(engine.needs_page()) << 1)
        };
        if self.listening.replace(listen) != listen {
            self.host.listen(listen);
        }
        if self.version.replace(version) != version {
            self.host.changed();
        }
    }
}

pub(super) fn page(host: &Host) -> Page {
    let bits = host.page();
    Page { online: bits & 1 != 0, visible: bits & 2 != 0 }
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// A random UUID (RFC 9562 5.4), which works outside secure contexts too.
fn uuid() -> String {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // No entropy at all: still a name that no other call of this page has.
        bytes = bytes.map(|_: u8| (js_sys::Math::random() * 256.0) as u8);
    }
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(HEX[usize::from(digit)].into());
        }
    }
    text
}

/// A string of RFC 8941 3.3.3, which is printable ASCII.
fn quoted(key: &JsValue) -> Result<JsValue, (Input, JsValue)> {
    let key = key.as_string().unwrap_or_default();
    let mut text = String::from("\"");
    for character in key.chars() {
        if !matches!(character, ' '..='~') {
            let text = "steadfetch: an idempotency key in quotes must be printable ASCII";
            return Err((Input::Threw, TypeError::new(text).into()));
        }
        if matches!(character, '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
    Ok(text.into())
}
