//! What JavaScript sees of the core: one object per family of clients, with numbers for calls.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::driver::{Core, page};
use super::js::{Host, Run};
use super::options::Settings;
use crate::core::call::Input;
use crate::core::registry::CircuitId;

/// A family of clients that share circuits: what `createFetch()` makes, with all that `extend()` makes of it.
#[wasm_bindgen]
pub struct Client(Rc<Core>);

#[wasm_bindgen]
impl Client {
    /// A family without calls.
    #[wasm_bindgen(constructor)]
    pub fn new(host: Host) -> Self {
        Self(Core::new(host))
    }

    /// The defaults.
    #[wasm_bindgen(js_name = "defaults_")]
    pub fn defaults() -> Settings {
        Settings::default()
    }

    /// `options` laid over `base`. Throws a `RangeError` or `TypeError` that names the option.
    #[wasm_bindgen(js_name = "overlay_")]
    pub fn overlay(base: &Settings, options: &JsValue) -> Result<Settings, JsValue> {
        base.overlaid(options)
    }

    /// Begins a call, or a new run of one. Everything else is told through the methods of `run`.
    #[wasm_bindgen(js_name = "start_")]
    pub fn start(&self, settings: &Settings, run: Run, number: u32, options: &JsValue) {
        self.0.start(settings, run, number, options);
    }

    /// `fetch` settled, see `Run.send_`.
    #[wasm_bindgen(js_name = "settled_")]
    pub fn settled(&self, slot: u32, seq: u32, status: i32, value: JsValue) {
        self.0.settled(slot, seq, status, value);
    }

    /// The attempt could not be made: a body factory threw, or what it gave is no body.
    #[wasm_bindgen(js_name = "unsent_")]
    pub fn unsent(&self, slot: u32, seq: u32, threw: bool, error: JsValue) {
        self.0.unsent(slot, seq, threw, error);
    }

    /// Cancels a pending call.
    #[wasm_bindgen(js_name = "cancel_")]
    pub fn cancel(&self, slot: u32, reason: JsValue) {
        self.0.cancel(slot, reason);
    }

    /// "Try now". False if it has no effect.
    #[wasm_bindgen(js_name = "retryNow_")]
    pub fn retry_now(&self, slot: u32) -> bool {
        self.0.handle(slot, Input::RetryNow)
    }

    /// "Try again" on a call that is held. False if it is not.
    #[wasm_bindgen(js_name = "retry_")]
    pub fn retry(&self, slot: u32) -> bool {
        self.0.handle(slot, Input::Retry)
    }

    /// Whether someone looks at the call's countdown.
    #[wasm_bindgen(js_name = "watch_")]
    pub fn watch(&self, slot: u32, watched: bool) {
        self.0.handle(slot, Input::Watch(watched));
    }

    /// Whether someone looks at the circuits or the client.
    #[wasm_bindgen(js_name = "observe_")]
    pub fn observe(&self, observed: bool) {
        self.0.now();
        self.0.engine.borrow_mut().set_observed(observed);
        self.0.drain();
    }

    /// Network, visibility, or a page that comes back: look again.
    #[wasm_bindgen(js_name = "wake_")]
    pub fn wake(&self) {
        self.0.wake();
    }

    /// The state of every circuit, by `Host.circuit_`.
    #[wasm_bindgen(js_name = "circuits_")]
    pub fn circuits(&self) -> Vec<JsValue> {
        let now = self.0.clocks.now(&self.0.host);
        let views: Vec<_> = {
            let engine = self.0.engine.borrow();
            engine.circuits().map(|(_, entry)| (entry.key().to_owned(), entry.breaker.view(now))).collect()
        };
        views.iter().map(|(key, view)| self.0.tell_circuit(key, *view, false)).collect()
    }

    /// The snapshot of the client, by `Host.snapshot_`.
    #[wasm_bindgen(js_name = "snapshot_")]
    pub fn snapshot(&self) -> JsValue {
        // Looking changes nothing.
        self.0.clocks.now(&self.0.host);
        let online = page(&self.0.host).online;
        let (counts, retry_at) = {
            let engine = self.0.engine.borrow();
            (engine.counts(), engine.next_retry_at())
        };
        let retry_at = retry_at.map_or(f64::INFINITY, |at| self.0.clocks.wall_ms(at));
        self.0.host.snapshot(counts.loading, counts.waiting, counts.offline, counts.queued, online, retry_at)
    }

    /// Holds the circuit of `key` open by hand; gives its place, for [`let_go`](Self::let_go).
    #[wasm_bindgen(js_name = "isolate_")]
    pub fn isolate(&self, settings: &Settings, key: &str) -> u32 {
        let now = self.0.now();
        let policy = settings.policy.breaker.unwrap_or_default();
        let id = self.0.engine.borrow_mut().resolve(key, policy, now);
        self.0.engine.borrow_mut().isolate(id, now);
        self.0.drain();
        id.0
    }

    /// Lets one hold go.
    #[wasm_bindgen(js_name = "letGo_")]
    pub fn let_go(&self, id: u32) {
        let now = self.0.now();
        self.0.engine.borrow_mut().let_go(CircuitId(id), now);
        self.0.drain();
    }

    /// Closes the circuit of `key`, or all.
    #[wasm_bindgen(js_name = "reset_")]
    pub fn reset(&self, key: Option<String>) {
        let now = self.0.now();
        let ids: Vec<_> = {
            let engine = self.0.engine.borrow();
            let named = |id: &CircuitId| key.as_ref().is_none_or(|key| engine.find_circuit(key) == Some(*id));
            engine.circuits().map(|(id, _)| id).filter(named).collect()
        };
        for id in ids {
            self.0.engine.borrow_mut().reset(id, now);
        }
        self.0.drain();
    }

    /// Cancels every pending call.
    #[wasm_bindgen(js_name = "cancelAll_")]
    pub fn cancel_all(&self, reason: &JsValue) {
        self.0.cancel_all(reason);
    }
}
