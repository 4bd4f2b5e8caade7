//! The browser's side of the crate in a real browser: options, clocks and the driver around the real `fetch`. The
//! JavaScript in `web.js` stands where the package's own stands.
#![cfg(target_arch = "wasm32")]

use steadfetch::web::client::Client;
use steadfetch::web::js::{Host, Run};
use steadfetch::web::options::Settings;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen(module = "/tests/web.js")]
extern "C" {
    #[wasm_bindgen(js_name = makeHost)]
    fn make_host() -> Host;
    #[wasm_bindgen(js_name = bindHost)]
    fn bind_host(host: &Host, rang: &Closure<dyn FnMut()>);

    type Page;
    #[wasm_bindgen(js_name = makeRun)]
    fn make_run(input: &str, init: &JsValue) -> Page;
    #[wasm_bindgen(method)]
    fn run(this: &Page) -> Run;
    #[wasm_bindgen(method)]
    fn bind(
        this: &Page,
        settled: &Closure<dyn FnMut(u32, u32, i32, JsValue)>,
        answered: &Closure<dyn FnMut(u32, u32, u32, bool, JsValue)>,
        state: &Closure<dyn FnMut(u32, String)>,
    );
    /// Settles at the end of the call, with every state it was in.
    #[wasm_bindgen(method)]
    fn done(this: &Page) -> js_sys::Promise;
    #[wasm_bindgen(method)]
    fn slot(this: &Page) -> u32;
    #[wasm_bindgen(method)]
    fn sent(this: &Page) -> u32;
    #[wasm_bindgen(method)]
    fn key(this: &Page) -> String;

    fn object(json: &str) -> JsValue;
    /// `{ [name]: value }`, from the innermost to the outermost of a dotted path.
    fn nest(path: &str, value: &JsValue) -> JsValue;
    fn values() -> js_sys::Array;
    fn describe(error: &JsValue) -> String;
    /// These retry options with a `shouldRetry` that does what its name says.
    #[wasm_bindgen(js_name = withHook)]
    fn with_hook(json: &str, name: &str) -> JsValue;
}

/// Drives one call to its end; `on_state` may call back into the client.
async fn call(
    client: &'static Client,
    options: &JsValue,
    url: &str,
    on_state: fn(&'static Client, u32, &str),
) -> (Vec<String>, Page) {
    let page = make_run(url, &JsValue::UNDEFINED);
    let settled = Closure::<dyn FnMut(u32, u32, i32, JsValue)>::new(|slot, seq, status, value| {
        client.settled(slot, seq, status, value);
    });
    let answered =
        Closure::<dyn FnMut(u32, u32, u32, bool, JsValue)>::new(|slot, seq, question, threw, answer| {
            client.answered(slot, seq, question, threw, answer)
        });
    let state =
        Closure::<dyn FnMut(u32, String)>::new(move |slot, status: String| on_state(client, slot, &status));
    page.bind(&settled, &answered, &state);
    let settings = Client::overlay(&Client::defaults(), options).expect("the options are good");
    client.start(&settings, page.run(), 1, &JsValue::UNDEFINED);
    let states = JsFuture::from(page.done()).await.expect("it ends");
    let states = js_sys::Array::from(&states).iter().filter_map(|state| state.as_string()).collect();
    // What comes late finds its closures.
    settled.forget();
    answered.forget();
    state.forget();
    (states, page)
}

fn client() -> &'static Client {
    let host = make_host();
    let client: &'static Client = Box::leak(Box::new(Client::new(host.clone())));
    let rang = Closure::<dyn FnMut()>::new(|| client.rang());
    bind_host(&host, &rang);
    rang.forget();
    client
}

fn ignore(_: &'static Client, _: u32, _: &str) {}

#[wasm_bindgen_test]
async fn a_good_answer_is_a_success() {
    let (states, _) = call(client(), &object("{}"), "/", ignore).await;
    assert_eq!(states, ["loading 1", "success 1 200"]);
}

#[wasm_bindgen_test]
async fn a_404_fails_and_is_not_retried() {
    let (states, page) = call(client(), &object("{}"), "/no-such-thing", ignore).await;
    assert_eq!(states, ["loading 1", "failed 1 status"]);
    assert_eq!(page.sent(), 1);
}

#[wasm_bindgen_test]
async fn a_network_failure_is_retried_on_real_timers_until_the_limit() {
    let options = object(r#"{ "retry": { "limit": 2, "delay": 5, "jitter": "none" } }"#);
    let (states, page) = call(client(), &options, "http://127.0.0.1:1/", ignore).await;
    assert_eq!(
        states,
        ["loading 1", "waiting 1 5", "loading 2", "waiting 2 10", "loading 3", "exhausted 3 limit"]
    );
    assert_eq!(page.sent(), 3);
}

#[wasm_bindgen_test]
async fn an_attempt_that_takes_too_long_is_aborted() {
    let options = object(r#"{ "timeout": 20, "retry": false }"#);
    let (states, _) = call(client(), &options, "stall:", ignore).await;
    assert_eq!(states, ["loading 1", "aborted TimeoutError", "exhausted 1 limit"]);
}

#[wasm_bindgen_test]
async fn a_call_that_is_cancelled_while_it_waits_sends_nothing_more() {
    fn cancel(client: &'static Client, slot: u32, status: &str) {
        if status == "waiting" {
            client.cancel(slot, JsValue::from_str("R"), false);
        }
    }
    let options = object(r#"{ "retry": { "delay": 5 } }"#);
    let (states, page) = call(client(), &options, "http://127.0.0.1:1/", cancel).await;
    assert_eq!(states.last().map(String::as_str), Some("cancelled 1 R"));
    assert_eq!(page.sent(), 1);
}

#[wasm_bindgen_test]
async fn a_listener_may_call_back_into_the_client() {
    fn meddle(client: &'static Client, slot: u32, _: &str) {
        client.snapshot();
        client.circuits();
        client.watch(slot, true);
        client.wake();
        client.observe(true);
        client.reset(None);
        client.retry_now(slot);
        client.observe(false);
    }
    let options = object(r#"{ "retry": { "limit": 2, "delay": 60000, "jitter": "none" } }"#);
    let (states, page) = call(client(), &options, "http://127.0.0.1:1/", meddle).await;
    assert_eq!(states.last().map(String::as_str), Some("exhausted 3 limit"), "{states:?}");
    assert_eq!(page.sent(), 3);
}

#[wasm_bindgen_test]
async fn hooks_may_throw_reject_or_take_their_time() {
    for (name, end) in [
        ("throws", "failed 1 callback-threw"),
        ("rejects", "failed 1 callback-threw"),
        ("later-no", "failed 1 vetoed"),
        ("later-yes", "exhausted 2 limit"),
    ] {
        let hooks = with_hook(r#"{ "limit": 1, "delay": 1 }"#, name);
        let (states, _) = call(client(), &hooks, "http://127.0.0.1:1/", ignore).await;
        assert_eq!(states.last().map(String::as_str), Some(end), "{name}");
    }
}

#[wasm_bindgen_test]
async fn the_circuit_opens_and_refuses() {
    let client = client();
    let options = object(r#"{ "retry": false, "breaker": { "consecutiveFailures": 2 } }"#);
    for _ in 0..2 {
        call(client, &options, "http://127.0.0.1:1/", ignore).await;
    }
    let (states, page) = call(client, &options, "http://127.0.0.1:1/", ignore).await;
    assert_eq!(states, ["circuit-open 0 http://127.0.0.1:1 settled"]);
    assert_eq!(page.sent(), 0);
}

#[wasm_bindgen_test]
async fn an_idempotency_key_is_a_random_uuid() {
    let options = object(r#"{ "idempotencyKey": "auto" }"#);
    let mut keys = Vec::new();
    for _ in 0..20 {
        let (_, page) = call(client(), &options, "/", ignore).await;
        keys.push(page.key());
    }
    for key in &keys {
        let bytes = key.as_bytes();
        assert_eq!(bytes.len(), 36, "{key}");
        assert!(bytes[14] == b'4' && matches!(bytes[19], b'8' | b'9' | b'a' | b'b'), "{key}");
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 20);
}

#[wasm_bindgen_test]
fn a_bad_option_throws_an_error_that_names_its_path() {
    let good = Client::defaults();
    for path in [
        "retry.limit",
        "retry.methods",
        "retry.statusCodes",
        "retry.delay",
        "retry.factor",
        "retry.backoffLimit",
        "retry.minDelay",
        "retry.jitter",
        "retry.maxRetryAfter",
        "retry.retryOnTimeout",
        "retry.shouldRetry",
        "retry.beforeRetry",
        "timeout",
        "totalTimeout",
        "covers",
        "breaker.key",
        "breaker.consecutiveFailures",
        "breaker.failureRate",
        "breaker.minimumCalls",
        "breaker.window",
        "breaker.slowCallDuration",
        "breaker.slowCallRate",
        "breaker.halfOpenAfter",
        "breaker.maxOpen",
        "breaker.halfOpenProbes",
        "breaker.halfOpenSuccesses",
        "breaker.probeLease",
        "breaker.isFailure",
        "breaker.share",
        "budget.capacity",
        "budget.ratio",
        "budget.fleet",
        "debug",
        "idempotencyKey",
        "idempotencyHeader.name",
        "idempotencyHeader.format",
        "onCircuitOpen",
        "onOffline",
        "onExhausted",
        "throwHttpErrors",
        "tickInterval",
        "fetch",
    ] {
        assert!(Client::overlay(&good, &nest(path, &JsValue::UNDEFINED)).is_ok(), "{path} has a default");
        let mut refused = 0;
        for value in values() {
            if let Err(error) = Client::overlay(&good, &nest(path, &value)) {
                let told = describe(&error);
                assert!(
                    told.starts_with("RangeError: steadfetch: ")
                        || told.starts_with("TypeError: steadfetch: ")
                );
                assert!(told.contains(&format!("steadfetch: {path} must be ")), "{path}: {told}");
                refused += 1;
            }
        }
        // NaN, -1, null, a symbol and an unknown word are nobody's.
        assert!(refused >= 5, "{path} took too much: {refused}");
    }
}

#[wasm_bindgen_test]
fn options_are_laid_over_each_other() {
    let base: Settings =
        Client::overlay(&Client::defaults(), &object(r#"{ "retry": { "limit": 1, "delay": 9 } }"#)).unwrap();
    assert!(Client::overlay(&base, &object(r#"{ "retry": 3 }"#)).is_ok());
    assert!(Client::overlay(&base, &object(r#"{ "budget": false, "breaker": false }"#)).is_ok());
    assert!(!base.shared());
    let shared = Client::overlay(&base, &object(r#"{ "breaker": { "share": "tabs" } }"#)).unwrap();
    assert!(shared.shared());
    let alone = Client::overlay(&shared, &object(r#"{ "breaker": { "share": false } }"#)).unwrap();
    assert!(!alone.shared());
}
