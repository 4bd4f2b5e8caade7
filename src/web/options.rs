//! Reads what the developer wrote into a policy and hooks. A bad option throws a `RangeError` or `TypeError` that
//! names its path.

use std::rc::Rc;

use js_sys::{Array, Function, Object, RangeError, Reflect, TypeError};
use wasm_bindgen::prelude::*;

use crate::core::policy::{
    Breaker, Covers, Jitter, Methods, OnCircuitOpen, OnExhausted, OnOffline, Policy, Range, Retry, Statuses,
};
use crate::core::time::Span;

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
}

/// The options of a client, or of one call.
#[wasm_bindgen]
#[derive(Clone)]
pub struct Settings {
    pub(super) policy: Rc<Policy>,
    pub(super) hooks: Rc<Hooks>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            policy: Rc::new(Policy::default()),
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
            }),
        }
    }
}

type Bad = JsValue;

fn range_error(path: &str, rule: &str) -> Bad {
    RangeError::new(&["steadfetch: ", path, " must be ", rule].concat()).into()
}

fn type_error(path: &str, rule: &str) -> Bad {
    TypeError::new(&["steadfetch: ", path, " must be ", rule].concat()).into()
}

/// The value of an option, unless it is not given.
fn option(of: &JsValue, path: &str) -> Result<Option<JsValue>, Bad> {
    let name = path.bytes().position(|byte| byte == b'.').and_then(|dot| path.get(dot + 1..)).unwrap_or(path);
    let value = Reflect::get(of, &JsValue::from_str(name))?;
    Ok((!value.is_undefined()).then_some(value))
}

fn number(of: &JsValue, path: &str, range: Range) -> Result<Option<f64>, Bad> {
    let Some(value) = option(of, path)? else {
        return Ok(None);
    };
    let number = value.as_f64().ok_or_else(|| type_error(path, range.rule()))?;
    range.check(number).map(Some).ok_or_else(|| range_error(path, range.rule()))
}

fn read_span(into: &mut Span, of: &JsValue, path: &str, range: Range) -> Result<(), Bad> {
    if let Some(ms) = number(of, path, range)? {
        *into = Span::from_ms(ms);
    }
    Ok(())
}

fn read_count(into: &mut u32, of: &JsValue, path: &str, range: Range) -> Result<(), Bad> {
    if let Some(count) = number(of, path, range)? {
        *into = count as u32;
    }
    Ok(())
}

fn read_number(into: &mut f64, of: &JsValue, path: &str, range: Range) -> Result<(), Bad> {
    if let Some(value) = number(of, path, range)? {
        *into = value;
    }
    Ok(())
}

/// A span that `false` (or infinity) switches off.
fn read_limit(into: &mut Option<Span>, of: &JsValue, path: &str) -> Result<(), Bad> {
    match option(of, path)? {
        None => {}
        Some(value) if value == JsValue::FALSE => *into = None,
        Some(_) => {
            let mut span = Span::MAX;
            read_span(&mut span, of, path, Range::Positive)?;
            *into = (span != Span::MAX).then_some(span);
        }
    }
    Ok(())
}

fn read_flag(into: &mut bool, of: &JsValue, path: &str) -> Result<(), Bad> {
    if let Some(value) = option(of, path)? {
        *into = value.as_bool().ok_or_else(|| type_error(path, "true or false"))?;
    }
    Ok(())
}

fn read_function(into: &mut Option<Function>, of: &JsValue, path: &str) -> Result<(), Bad> {
    if let Some(value) = option(of, path)? {
        *into = Some(value.dyn_into().map_err(|_| type_error(path, "a function"))?);
    }
    Ok(())
}

fn read_word<T: Copy>(into: &mut T, of: &JsValue, path: &str, words: &[(&str, T)]) -> Result<(), Bad> {
    if let Some(value) = option(of, path)? {
        let rule =
            || words.iter().map(|(word, _)| ["\"", word, "\""].concat()).collect::<Vec<_>>().join(" or ");
        let given = value.as_string().ok_or_else(|| type_error(path, &rule()))?;
        let found = words.iter().find(|(word, _)| *word == given);
        *into = found.ok_or_else(|| range_error(path, &rule()))?.1;
    }
    Ok(())
}

fn list(value: JsValue, path: &str) -> Result<Array, Bad> {
    value.dyn_into().map_err(|_| type_error(path, "an array"))
}

/// What is written in the contract and not in the code yet is refused, never ignored.
fn not_yet(of: &JsValue, path: &str) -> Result<(), Bad> {
    match option(of, path)? {
        Some(value) if value != JsValue::FALSE => {
            let text = ["steadfetch: option ", path, " is not supported yet"].concat();
            Err(TypeError::new(&text).into())
        }
        _ => Ok(()),
    }
}

fn object(value: &JsValue, path: &str) -> Result<(), Bad> {
    if value.is_object() { Ok(()) } else { Err(type_error(path, "an object")) }
}

fn retry(into: &mut Retry, hooks: &mut Hooks, of: &JsValue) -> Result<(), Bad> {
    read_count(&mut into.limit, of, "retry.limit", Range::Count)?;
    if let Some(value) = option(of, "retry.methods")? {
        let mut methods = Vec::new();
        for method in list(value, "retry.methods")? {
            let method =
                method.as_string().ok_or_else(|| type_error("retry.methods", "an array of strings"))?;
            methods.push(method.into());
        }
        into.methods = Methods::Only(methods);
    }
    if let Some(value) = option(of, "retry.statusCodes")? {
        let rule = "an array of statuses from 100 to 599 or \"5xx\"";
        let mut statuses = Statuses::NONE;
        for status in list(value, "retry.statusCodes")? {
            if status.as_string().is_some_and(|word| word == "5xx") {
                statuses.add_5xx();
                continue;
            }
            let number = status.as_f64().ok_or_else(|| type_error("retry.statusCodes", rule))?;
            if number.floor() != number || !(100.0..600.0).contains(&number) || !statuses.add(number as u16) {
                return Err(range_error("retry.statusCodes", rule));
            }
        }
        into.statuses = statuses;
    }
    match option(of, "retry.delay")? {
        Some(value) if value.is_function() => read_function(&mut hooks.delay, of, "retry.delay")?,
        Some(_) => {
            hooks.delay = None;
            read_span(&mut into.delay, of, "retry.delay", Range::NotNegative)?;
        }
        None => {}
    }
    read_number(&mut into.factor, of, "retry.factor", Range::Factor)?;
    read_span(&mut into.backoff_limit, of, "retry.backoffLimit", Range::NotNegative)?;
    read_span(&mut into.min_delay, of, "retry.minDelay", Range::NotNegative)?;
    let jitters = [
        ("full", Jitter::Full),
        ("equal", Jitter::Equal),
        ("decorrelated", Jitter::Decorrelated),
        ("none", Jitter::None),
    ];
    read_word(&mut into.jitter, of, "retry.jitter", &jitters)?;
    read_span(&mut into.max_retry_after, of, "retry.maxRetryAfter", Range::NotNegative)?;
    read_flag(&mut into.on_timeout, of, "retry.retryOnTimeout")?;
    read_function(&mut hooks.should_retry, of, "retry.shouldRetry")?;
    read_function(&mut hooks.before_retry, of, "retry.beforeRetry")
}

fn breaker(into: &mut Breaker, hooks: &mut Hooks, of: &JsValue) -> Result<(), Bad> {
    match option(of, "breaker.key")? {
        Some(value) if value.as_string().is_some_and(|word| word == "origin") => hooks.circuit_key = None,
        Some(value) if value.is_string() => {
            return Err(range_error("breaker.key", "\"origin\" or a function"));
        }
        Some(value) if !value.is_function() => {
            return Err(type_error("breaker.key", "\"origin\" or a function"));
        }
        _ => read_function(&mut hooks.circuit_key, of, "breaker.key")?,
    }
    read_count(&mut into.consecutive_failures, of, "breaker.consecutiveFailures", Range::Count)?;
    read_number(&mut into.failure_rate, of, "breaker.failureRate", Range::Rate)?;
    read_count(&mut into.minimum_calls, of, "breaker.minimumCalls", Range::CountFromOne)?;
    read_span(&mut into.window, of, "breaker.window", Range::Positive)?;
    read_limit(&mut into.slow_call_duration, of, "breaker.slowCallDuration")?;
    read_number(&mut into.slow_call_rate, of, "breaker.slowCallRate", Range::Rate)?;
    read_span(&mut into.half_open_after, of, "breaker.halfOpenAfter", Range::Positive)?;
    read_span(&mut into.max_open, of, "breaker.maxOpen", Range::Positive)?;
    read_count(&mut into.half_open_probes, of, "breaker.halfOpenProbes", Range::CountFromOne)?;
    read_count(&mut into.half_open_successes, of, "breaker.halfOpenSuccesses", Range::CountFromOne)?;
    read_limit(&mut into.probe_lease, of, "breaker.probeLease")?;
    read_function(&mut hooks.is_failure, of, "breaker.isFailure")
}

impl Settings {
    /// These settings with `options` laid over them.
    pub fn overlaid(&self, options: &JsValue) -> Result<Self, Bad> {
        if options.is_undefined() {
            return Ok(self.clone());
        }
        object(options, "options")?;
        let mut policy = (*self.policy).clone();
        let mut hooks = (*self.hooks).clone();

        match option(options, "retry")? {
            None => {}
            Some(value) if value == JsValue::FALSE => policy.retry.limit = 0,
            Some(value) if value.as_f64().is_some() => {
                read_count(&mut policy.retry.limit, options, "retry", Range::Count)?;
            }
            Some(value) if value.is_object() => retry(&mut policy.retry, &mut hooks, &value)?,
            Some(_) => return Err(type_error("retry", "a number, an object or false")),
        }
        read_limit(&mut policy.timeout, options, "timeout")?;
        read_limit(&mut policy.total_timeout, options, "totalTimeout")?;
        let covers = [("headers", Covers::Headers), ("body", Covers::Body)];
        read_word(&mut policy.covers, options, "covers", &covers)?;
        match option(options, "breaker")? {
            None => {}
            Some(value) if value == JsValue::FALSE => policy.breaker = None,
            Some(value) => {
                object(&value, "breaker")?;
                breaker(policy.breaker.get_or_insert_default(), &mut hooks, &value)?;
            }
        }
        not_yet(options, "budget")?;
        match option(options, "idempotencyKey")? {
            None => {}
            Some(value) if value == JsValue::FALSE => hooks.key = Key::None,
            Some(value) => {
                hooks.key = match (value.as_string().as_deref(), value.dyn_ref::<Function>()) {
                    (Some("auto"), _) => Key::Auto,
                    (Some(""), _) => {
                        return Err(range_error("idempotencyKey", "a string that is not empty"));
                    }
                    (Some(_), _) => Key::Fixed(value),
                    (None, Some(make)) => Key::Make(make.clone()),
                    (None, None) => {
                        return Err(type_error("idempotencyKey", "false, \"auto\", a string or a function"));
                    }
                }
            }
        }
        if let Some(header) = option(options, "idempotencyHeader")? {
            object(&header, "idempotencyHeader")?;
            if let Some(name) = option(&header, "idempotencyHeader.name")? {
                if !name.as_string().is_some_and(|name| !name.is_empty()) {
                    return Err(type_error("idempotencyHeader.name", "a string that is not empty"));
                }
                hooks.key_header = name;
            }
            let formats = [("raw", false), ("sf-string", true)];
            read_word(&mut hooks.key_quoted, &header, "idempotencyHeader.format", &formats)?;
        }
        let on_circuit_open = [("reject", OnCircuitOpen::Reject), ("wait", OnCircuitOpen::Wait)];
        read_word(&mut policy.on_circuit_open, options, "onCircuitOpen", &on_circuit_open)?;
        let on_offline =
            [("wait", OnOffline::Wait), ("reject", OnOffline::Reject), ("ignore", OnOffline::Ignore)];
        read_word(&mut policy.on_offline, options, "onOffline", &on_offline)?;
        let on_exhausted = [("settle", OnExhausted::Settle), ("hold", OnExhausted::Hold)];
        read_word(&mut policy.on_exhausted, options, "onExhausted", &on_exhausted)?;
        read_flag(&mut policy.throw_http_errors, options, "throwHttpErrors")?;
        read_limit(&mut policy.tick, options, "tickInterval")?;
        let mut fetch = None;
        read_function(&mut fetch, options, "fetch")?;
        if let Some(fetch) = fetch {
            hooks.fetch = fetch.into();
        }
        Ok(Self { policy: Rc::new(policy), hooks: Rc::new(hooks) })
    }
}

/// Anything with a `then` is waited for.
pub fn is_thenable(value: &JsValue) -> bool {
    value.is_object()
        && Reflect::get(value.unchecked_ref::<Object>(), &JsValue::from_str("then"))
            .is_ok_and(|then| then.is_function())
}
