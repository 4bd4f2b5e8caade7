//! The JavaScript side of the package as Rust sees it: methods by name, numbers where numbers do.
//!
//! Names that end in an underscore are shortened by the build, on both sides.

use js_sys::Function;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The family of clients that share one core (`family.ts`).
    #[derive(Clone)]
    pub type Host;

    /// The monotonic clock, in milliseconds.
    #[wasm_bindgen(method, js_name = "mono_")]
    pub fn mono(this: &Host) -> f64;
    /// Bit 0: not offline; bit 1: not hidden.
    #[wasm_bindgen(method, js_name = "page_")]
    pub fn page(this: &Host) -> u32;
    /// Listen to what befalls the page. Bit 0: that it ends; bit 1: network and visibility.
    #[wasm_bindgen(method, js_name = "listen_")]
    pub fn listen(this: &Host, what: u32);
    /// Sets the one timer, to call `Client.rang_`; below zero: none. It keeps a process alive only if `busy`.
    #[wasm_bindgen(method, js_name = "arm_")]
    pub fn arm(this: &Host, ms: f64, busy: bool);
    /// A `TimeoutError`: scope 0 is the attempt, 1 is the whole run.
    #[wasm_bindgen(method, js_name = "timeout_")]
    pub fn timeout(this: &Host, scope: u32, ms: f64) -> JsValue;
    /// Cancels the body of a response that will not be used.
    #[wasm_bindgen(method, js_name = "discard_")]
    pub fn discard(this: &Host, response: &JsValue);
    /// What `isFailure` is asked about: a response, or an error.
    #[wasm_bindgen(method, js_name = "outcome_")]
    pub fn outcome(this: &Host, answered: bool, value: &JsValue) -> JsValue;
    /// Tells that snapshots are out of date.
    #[wasm_bindgen(method, js_name = "changed_")]
    pub fn changed(this: &Host);
    /// Makes the state of one circuit; `event` also tells the listeners.
    #[wasm_bindgen(method, js_name = "circuit_")]
    #[allow(clippy::too_many_arguments)]
    pub fn circuit(
        this: &Host,
        event: bool,
        key: &str,
        status: u32,
        open_until: f64,
        remaining: f64,
        consecutive: u32,
        rate: f64,
        calls: u32,
        reason: u32,
    ) -> JsValue;
    /// Tells the other tabs, see `events.rs`.
    #[wasm_bindgen(method, js_name = "share_")]
    #[allow(clippy::too_many_arguments)]
    pub fn share(this: &Host, kind: u32, tab: u32, key: &str, a: f64, b: f64, c: f64, d: f64);
    /// Makes the entry of one key in what survives a reload. Infinite is closed,
    /// or not parked; `milli` below zero is no budget.
    #[wasm_bindgen(method, js_name = "kept_")]
    pub fn kept(
        this: &Host,
        key: &str,
        open_until: f64,
        doublings: u32,
        reason: u32,
        milli: f64,
        age: f64,
        parked_until: f64,
        status: u16,
    ) -> JsValue;
    /// Makes the snapshot of the client.
    #[wasm_bindgen(method, js_name = "snapshot_")]
    pub fn snapshot(
        this: &Host,
        loading: u32,
        waiting: u32,
        offline: u32,
        queued: u32,
        online: bool,
        next_retry_at: f64,
    ) -> JsValue;

    /// One call as JavaScript keeps it (`run.ts`).
    #[derive(Clone)]
    pub type Run;

    /// Builds the request and throws what it throws. Bit 0: the body can be sent again; bit 1: it carries an
    /// idempotency key under the header of that name; bit 2: the caller's signal is aborted; bit 3: the body was sent and is gone.
    #[wasm_bindgen(method, catch, js_name = "open_")]
    pub fn open(this: &Run, header: &JsValue) -> Result<u32, JsValue>;
    /// The request's method.
    #[wasm_bindgen(method, getter, js_name = "method_")]
    pub fn method(this: &Run) -> String;
    /// The request's URL.
    #[wasm_bindgen(method, getter, js_name = "url_")]
    pub fn url(this: &Run) -> String;
    /// The request itself.
    #[wasm_bindgen(method, getter, js_name = "request_")]
    pub fn request(this: &Run) -> JsValue;
    /// The caller's abort reason.
    #[wasm_bindgen(method, js_name = "reason_")]
    pub fn reason(this: &Run) -> JsValue;
    /// Sets the idempotency key. True if the call was given up meanwhile.
    #[wasm_bindgen(method, catch, js_name = "key_")]
    pub fn key(this: &Run, value: &JsValue) -> Result<bool, JsValue>;
    /// The place of the call in the core, the number of attempts it may make, `debug` and `trace`. True if it was cancelled
    /// while it was being made.
    #[wasm_bindgen(method, js_name = "begin_")]
    pub fn begin(this: &Run, slot: u32, run: u32, max_attempts: f64, debug: bool, trace: bool) -> bool;
    /// Sends an attempt; `keep` what is needed to send another. Answers by `Client.settled`.
    #[wasm_bindgen(method, js_name = "send_")]
    pub fn send(this: &Run, seq: u32, keep: bool, fetch: &JsValue);
    /// Aborts the attempt.
    #[wasm_bindgen(method, js_name = "abort_")]
    pub fn abort(this: &Run, reason: &JsValue);
    /// Sends this request from now on.
    #[wasm_bindgen(method, catch, js_name = "replace_")]
    pub fn replace(this: &Run, request: &JsValue) -> Result<(), JsValue>;
    /// Asks a hook about the attempt that ended: 0 is `shouldRetry`, 1 `delay`, 2 `beforeRetry`. Answers by
    /// `Client.answered_`.
    #[wasm_bindgen(method, js_name = "ask_")]
    #[allow(clippy::too_many_arguments)]
    pub fn ask(
        this: &Run,
        seq: u32,
        question: u32,
        hook: &Function,
        attempt: u32,
        delay: f64,
        response: &JsValue,
        error: &JsValue,
    );
    /// Asks for the lock of the key. Answers by `Client.locked_`.
    #[wasm_bindgen(method, js_name = "lock_")]
    pub fn lock(this: &Run, seq: u32, key: &str);
    /// Lets the lock go.
    #[wasm_bindgen(method, js_name = "unlock_")]
    pub fn unlock(this: &Run, seq: u32);
    /// Reads the body of the response. Answers by `Client.bodyRead_`, or by `Client.settled_` if it breaks off.
    #[wasm_bindgen(method, js_name = "read_")]
    pub fn read(this: &Run, seq: u32, response: &JsValue);

    /// Notes a failed attempt: 0 network, 1 timeout, 2 status.
    #[wasm_bindgen(method, js_name = "failure_")]
    pub fn failure(this: &Run, kind: u32, status: u32, error: &JsValue, at: f64, duration: f64);
    /// The state is `loading`.
    #[wasm_bindgen(method, js_name = "loading_")]
    pub fn loading(this: &Run, attempt: u32, probe: bool);
    /// The state is `waiting`; for another call's answer if `parked` is its status, else for its own last failure.
    #[wasm_bindgen(method, js_name = "waiting_")]
    pub fn waiting(
        this: &Run,
        attempt: u32,
        retry_at: f64,
        remaining: f64,
        delay: f64,
        source: u32,
        parked: u32,
    );
    /// The state is `offline`.
    #[wasm_bindgen(method, js_name = "offline_")]
    pub fn offline(this: &Run, attempt: u32, next_probe_at: f64);
    /// The state is `circuit-open`; it is the end if `settled`. A `retry_at` of infinity is unknown.
    #[wasm_bindgen(method, js_name = "refused_")]
    pub fn refused(
        this: &Run,
        attempt: u32,
        circuit: &str,
        retry_at: f64,
        remaining: f64,
        probe_in_flight: bool,
        settled: bool,
    );
    /// The state is `success`.
    #[wasm_bindgen(method, js_name = "success_")]
    pub fn success(this: &Run, attempt: u32, response: &JsValue);
    /// The state is `failed`. `how`: 0 resolves with the response, 1 rejects with the error, 2 rejects with an
    /// `HttpError` over the response, 3 rejects with an `OfflineError`.
    #[wasm_bindgen(method, js_name = "failed_")]
    pub fn failed(this: &Run, attempt: u32, reason: u32, how: u32, value: &JsValue);
    /// The state is `exhausted`; `how` as above, and 4 rejects with a `CircuitOpenError` for the key that `value` is. A `retry_at` of infinity is unknown.
    #[wasm_bindgen(method, js_name = "exhausted_")]
    pub fn exhausted(
        this: &Run,
        attempt: u32,
        reason: u32,
        retry_at: f64,
        held: bool,
        how: u32,
        value: &JsValue,
    );
    /// The state is `cancelled`.
    #[wasm_bindgen(method, js_name = "cancelled_")]
    pub fn cancelled(this: &Run, attempt: u32, reason: &JsValue);
}
