//! Reads what the developer wrote into a policy and hooks. A bad option throws a `RangeError` or `TypeError` that
//! names its path.

use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Array, Function, RangeError, TypeError};
use wasm_bindgen::prelude::*;

use crate::core::policy::{
    Breaker, Budget, Covers, Fleet, Jitter, Methods, OnCircuitOpen, OnExhausted, OnOffline, Policy, Range,
    Retry, Statuses,
};
use crate::core::time::Span;

#[wasm_bindgen]
extern "C" {
    /// An object of options, as the developer gave it.
    type Given;
    /// Throws what a getter throws.
    #[wasm_bindgen(method, catch, structural, indexing_getter)]
    fn get(this: &Given, name: &str) -> Result<JsValue, JsValue>;
}

/// Where a call's idempotency key comes from.
#[derive(Clone)]
pub enum Key {
    None,
    /// A random UUID.
    Auto,
    /// As given.
    Fixed(JsValue),
    /// Asked for once per call.
    Make(Function),
}

/// The parts of the options that only JavaScript can hold.
#[derive(Clone)]
pub struct Hooks {
    pub should_retry: Option<Function>,
    pub delay: Option<Function>,
    pub before_retry: Option<Function>,
    pub circuit_key: Option<Function>,
    pub is_failure: Option<Function>,
    pub key: Key,
    /// The name of the header that carries the key.
    pub key_header: JsValue,
    /// The key is written as a string of RFC 8941 3.3.3, in quotes.
    pub key_quoted: bool,
    /// `undefined` is the global one.
    pub fetch: JsValue,
    /// Hints for developers.
    pub debug: bool,
    pub trace: bool,
}

/// The options of a client, or of one call.
#[wasm_bindgen]
#[derive(Clone)]
pub struct Settings {
    pub(super) policy: Arc<Policy>,
    pub(super) hooks: Rc<Hooks>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: Arc::new(Policy::default()),
            hooks: Rc::new(Hooks {
                should_retry: None,
                delay: None,
                before_retry: None,
                circuit_key: None,
                is_failure: None,
                key: Key::None,
                key_header: JsValue::from_str("Idempotency-Key"),
                key_quoted: false,
                fetch: JsValue::UNDEFINED,
                debug: false,
                trace: false,
            }),
        }
    }
}

/// Reads the options of one object into where they belong. After a bad one nothing more is read, and whoever began
/// looks at `bad` when all is done: so no read needs a way out of its own, which keeps the wasm small.
struct Reader<'a> {
    from: &'a Given,
    /// Where the object is, as errors put it before the name of an option.
    path: &'static str,
    /// What to throw.
    bad: &'a mut Option<JsValue>,
}

/// What is wrong with a value.
enum Wrong {
    Type,
    Range,
}

impl Reader<'_> {
    /// A reader of the object that is the value of an option.
    fn inside<'a>(&'a mut self, object: &'a JsValue, path: &'static str) -> Reader<'a> {
        Reader { from: object.unchecked_ref(), path, bad: self.bad }
    }

    fn throw(&mut self, wrong: Wrong, text: &[&str]) {
        let mut whole = String::new();
        for part in text {
            whole.push_str(part);
        }
        *self.bad = Some(match wrong {
            Wrong::Type => TypeError::new(&whole).into(),
            Wrong::Range => RangeError::new(&whole).into(),
        });
    }

    fn refuse(&mut self, wrong: Wrong, name: &str, rule: &str) {
        self.throw(wrong, &["steadfetch: ", self.path, name, " must be ", rule]);
    }

    /// The value of an option, unless it is not given.
    fn value(&mut self, name: &str) -> Option<JsValue> {
        if self.bad.is_some() {
            return None;
        }
        match self.from.get(name) {
            Ok(value) => (!value.is_undefined()).then_some(value),
            Err(thrown) => {
                *self.bad = Some(thrown);
                None
            }
        }
    }

    fn number(&mut self, name: &str, range: Range) -> Option<f64> {
        let value = self.value(name)?;
        let number = value.as_f64();
        let good = number.and_then(|number| range.check(number));
        if good.is_none() {
            self.refuse(if number.is_none() { Wrong::Type } else { Wrong::Range }, name, range.rule());
        }
        good
    }

    fn float(&mut self, into: &mut f64, name: &str, range: Range) {
        if let Some(number) = self.number(name, range) {
            *into = number;
        }
    }

    fn tokens(&mut self, into: &mut u64, name: &str, range: Range) {
        if let Some(number) = self.number(name, range) {
            *into = (number * Budget::TOKEN as f64) as u64;
        }
    }

    fn count(&mut self, into: &mut u32, name: &str, range: Range) {
        if let Some(number) = self.number(name, range) {
            *into = number as u32;
        }
    }

    fn span(&mut self, into: &mut Span, name: &str, range: Range) {
        if let Some(ms) = self.number(name, range) {
            *into = Span::from_ms(ms);
        }
    }

    /// A span that `false` (or infinity) switches off.
    fn limit(&mut self, into: &mut Option<Span>, name: &str) {
        let Some(value) = self.value(name) else { return };
        let mut span = Span::MAX;
        if value != JsValue::FALSE {
            self.span(&mut span, name, Range::Positive);
        }
        *into = (span != Span::MAX).then_some(span);
    }

    fn flag(&mut self, into: &mut bool, name: &str) {
        if let Some(value) = self.value(name) {
            match value.as_bool() {
                Some(flag) => *into = flag,
                None => self.refuse(Wrong::Type, name, "true or false"),
            }
        }
    }

    fn function(&mut self, into: &mut Option<Function>, name: &str) {
        if let Some(value) = self.value(name) {
            *into = value.dyn_into().ok();
            if into.is_none() {
                self.refuse(Wrong::Type, name, "a function");
            }
        }
    }

    /// One of some words, each with its meaning.
    fn word<T: Copy>(&mut self, into: &mut T, name: &str, words: &[&str], meanings: &[T]) {
        if let Some(meaning) = self.place(name, words).and_then(|place| meanings.get(place)) {
            *into = *meaning;
        }
    }

    /// Which of the words it is.
    fn place(&mut self, name: &str, words: &[&str]) -> Option<usize> {
        let value = self.value(name)?;
        let given = value.as_string();
        let place = words.iter().position(|word| given.as_deref() == Some(*word));
        if place.is_none() {
            let mut rule = String::new();
            for word in words {
                let or = if rule.is_empty() { "\"" } else { " or \"" };
                for part in [or, word, "\""] {
                    rule.push_str(part);
                }
            }
            self.refuse(if given.is_none() { Wrong::Type } else { Wrong::Range }, name, &rule);
        }
        place
    }

    /// Hands on each element of an array. True if it was given and all its elements are good.
    fn list(&mut self, name: &str, rule: &str, each: &mut dyn FnMut(&JsValue) -> Result<(), Wrong>) -> bool {
        let Some(value) = self.value(name) else { return false };
        let Some(list) = value.dyn_ref::<Array>() else {
            self.refuse(Wrong::Type, name, "an array");
            return false;
        };
        for element in list.iter() {
            if let Err(wrong) = each(&element) {
                self.refuse(wrong, name, rule);
                return false;
            }
        }
        true
    }

    fn object(&mut self, name: &str) -> Option<JsValue> {
        let object = self.value(name)?;
        if object.is_object() {
            return Some(object);
        }
        self.refuse(Wrong::Type, name, "an object");
        None
    }
}

fn is_word(value: &JsValue, word: &str) -> bool {
    value.as_string().as_deref() == Some(word)
}

fn retry(into: &mut Retry, hooks: &mut Hooks, mut read: Reader) {
    read.count(&mut into.limit, "limit", Range::Count);
    let mut methods = Vec::new();
    let given = read.list("methods", "an array of strings", &mut |method| {
        methods.push(method.as_string().ok_or(Wrong::Type)?.into());
        Ok(())
    });
    if given {
        into.methods = Methods::Only(methods);
    }
    let mut statuses = Statuses::NONE;
    let given = read.list("statusCodes", "an array of statuses from 100 to 599 or \"5xx\"", &mut |status| {
        if is_word(status, "5xx") {
            statuses.add_5xx();
            return Ok(());
        }
        let number = status.as_f64().ok_or(Wrong::Type)?;
        let good =
            number.floor() == number && (100.0..600.0).contains(&number) && statuses.add(number as u16);
        if good { Ok(()) } else { Err(Wrong::Range) }
    });
    if given {
        into.statuses = statuses;
    }
    if let Some(delay) = read.value("delay") {
        if delay.is_function() {
            read.function(&mut hooks.delay, "delay");
        } else {
            hooks.delay = None;
            read.span(&mut into.delay, "delay", Range::NotNegative);
        }
    }
    read.float(&mut into.factor, "factor", Range::Factor);
    read.span(&mut into.backoff_limit, "backoffLimit", Range::NotNegative);
    read.span(&mut into.min_delay, "minDelay", Range::NotNegative);
    let words = &["full", "equal", "decorrelated", "none"];
    let jitters = &[Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::None];
    read.word(&mut into.jitter, "jitter", words, jitters);
    read.span(&mut into.max_retry_after, "maxRetryAfter", Range::NotNegative);
    read.flag(&mut into.on_timeout, "retryOnTimeout");
    read.function(&mut hooks.should_retry, "shouldRetry");
    read.function(&mut hooks.before_retry, "beforeRetry");
}

fn breaker(into: &mut Breaker, hooks: &mut Hooks, mut read: Reader) {
    if let Some(key) = read.value("key") {
        if key.is_function() {
            read.function(&mut hooks.circuit_key, "key");
        } else if is_word(&key, "origin") {
            hooks.circuit_key = None;
        } else {
            let wrong = if key.is_string() { Wrong::Range } else { Wrong::Type };
            read.refuse(wrong, "key", "\"origin\" or a function");
        }
    }
    read.count(&mut into.consecutive_failures, "consecutiveFailures", Range::Count);
    read.float(&mut into.failure_rate, "failureRate", Range::Rate);
    read.count(&mut into.minimum_calls, "minimumCalls", Range::CountFromOne);
    read.span(&mut into.window, "window", Range::Positive);
    read.limit(&mut into.slow_call_duration, "slowCallDuration");
    read.float(&mut into.slow_call_rate, "slowCallRate", Range::Rate);
    read.span(&mut into.half_open_after, "halfOpenAfter", Range::Positive);
    read.span(&mut into.max_open, "maxOpen", Range::Positive);
    read.count(&mut into.half_open_probes, "halfOpenProbes", Range::CountFromOne);
    read.count(&mut into.half_open_successes, "halfOpenSuccesses", Range::CountFromOne);
    read.limit(&mut into.probe_lease, "probeLease");
    read.function(&mut hooks.is_failure, "isFailure");
    if let Some(share) = read.value("share") {
        into.shared = is_word(&share, "tabs");
        if !into.shared && share != JsValue::FALSE {
            read.refuse(
                if share.is_string() { Wrong::Range } else { Wrong::Type },
                "share",
                "\"tabs\" or false",
            );
        }
    }
}

fn budget(into: &mut Budget, mut read: Reader) {
    read.tokens(&mut into.capacity, "capacity", Range::Positive);
    read.tokens(&mut into.ratio, "ratio", Range::NotNegative);
    read.word(&mut into.fleet, "fleet", &["small", "large"], &[Fleet::Small, Fleet::Large]);
}

fn key_header(hooks: &mut Hooks, mut read: Reader) {
    if let Some(name) = read.value("name") {
        match name.as_string() {
            None => read.refuse(Wrong::Type, "name", "a string"),
            Some(name) if !is_token(&name) => read.refuse(Wrong::Range, "name", "the name of a header"),
            Some(_) => {}
        }
        hooks.key_header = name;
    }
    read.word(&mut hooks.key_quoted, "format", &["raw", "sf-string"], &[false, true]);
}

/// RFC 9110 5.6.2.
fn is_token(name: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(part)
}

#[wasm_bindgen]
impl Settings {
    /// Whether circuits are shared by the tabs of the origin.
    #[wasm_bindgen(getter, js_name = "shared_")]
    pub fn shared(&self) -> bool {
        self.policy.breaker.is_some_and(|breaker| breaker.shared)
    }
}

impl Settings {
    /// These settings with `options` laid over them.
    pub fn overlaid(&self, options: &JsValue) -> Result<Self, JsValue> {
        if options.is_undefined() {
            return Ok(self.clone());
        }
        let mut bad = None;
        let mut read = Reader { from: options.unchecked_ref(), path: "", bad: &mut bad };
        if !options.is_object() {
            read.refuse(Wrong::Type, "options", "an object");
        }
        let mut policy = (*self.policy).clone();
        let mut hooks = (*self.hooks).clone();

        if let Some(value) = read.value("retry") {
            if value.is_object() {
                retry(&mut policy.retry, &mut hooks, read.inside(&value, "retry."));
            } else if value == JsValue::FALSE {
                policy.retry.limit = 0;
            } else if value.as_f64().is_some() {
                read.count(&mut policy.retry.limit, "retry", Range::Count);
            } else {
                read.refuse(Wrong::Type, "retry", "a number, an object or false");
            }
        }
        read.limit(&mut policy.timeout, "timeout");
        read.limit(&mut policy.total_timeout, "totalTimeout");
        read.word(&mut policy.covers, "covers", &["headers", "body"], &[Covers::Headers, Covers::Body]);
        if let Some(value) = read.value("breaker") {
            if value == JsValue::FALSE {
                policy.breaker = None;
            } else if value.is_object() {
                let into = policy.breaker.get_or_insert_default();
                breaker(into, &mut hooks, read.inside(&value, "breaker."));
            } else {
                read.refuse(Wrong::Type, "breaker", "an object");
            }
        }
        if let Some(value) = read.value("budget") {
            if value == JsValue::FALSE {
                policy.budget = None;
            } else if value.is_object() {
                budget(policy.budget.get_or_insert_default(), read.inside(&value, "budget."));
            } else {
                read.refuse(Wrong::Type, "budget", "an object or false");
            }
        }
        if let Some(value) = read.value("idempotencyKey") {
            hooks.key = match value.as_string().as_deref() {
                Some("auto") => Key::Auto,
                Some("") => {
                    read.refuse(Wrong::Range, "idempotencyKey", "a string that is not empty");
                    Key::None
                }
                Some(_) => Key::Fixed(value),
                None => match value.dyn_into() {
                    Ok(make) => Key::Make(make),
                    Err(value) => {
                        if value != JsValue::FALSE {
                            let rule = "false, \"auto\", a string or a function";
                            read.refuse(Wrong::Type, "idempotencyKey", rule);
                        }
                        Key::None
                    }
                },
            };
        }
        if let Some(header) = read.object("idempotencyHeader") {
            key_header(&mut hooks, read.inside(&header, "idempotencyHeader."));
        }
        let answers = &[OnCircuitOpen::Reject, OnCircuitOpen::Wait];
        read.word(&mut policy.on_circuit_open, "onCircuitOpen", &["reject", "wait"], answers);
        let answers = &[OnOffline::Wait, OnOffline::Reject, OnOffline::Ignore];
        read.word(&mut policy.on_offline, "onOffline", &["wait", "reject", "ignore"], answers);
        let answers = &[OnExhausted::Settle, OnExhausted::Hold];
        read.word(&mut policy.on_exhausted, "onExhausted", &["settle", "hold"], answers);
        read.flag(&mut policy.throw_http_errors, "throwHttpErrors");
        read.limit(&mut policy.tick, "tickInterval");
        read.flag(&mut hooks.debug, "debug");
        read.flag(&mut hooks.trace, "trace");
        // For where there is no core, so here it is only checked.
        read.flag(&mut false, "degrade");
        let mut fetch = None;
        read.function(&mut fetch, "fetch");
        if let Some(fetch) = fetch {
            hooks.fetch = fetch.into();
        }
        match bad {
            None => Ok(Self { policy: Arc::new(policy), hooks: Rc::new(hooks) }),
            Some(bad) => Err(bad),
        }
    }
}
