//! What JavaScript sees of the core: one object per family of clients, with numbers for calls.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{RangeError, TypeError};
use wasm_bindgen::prelude::*;

use super::driver::{self, Core, page};
use super::js::{Host, Run};
use super::options::Settings;
use crate::core::call::Input;
use crate::core::registry::CircuitId;
use crate::core::shared::Lock;

/// A family of clients that share circuits: what `createFetch()` makes, with all that `extend()` makes of it. Empty
/// once it is disposed of: then whatever comes late changes nothing.
#[wasm_bindgen]
pub struct Client(RefCell<Option<Rc<Core>>>);

impl Client {
    /// The core, held as long as it is used, since what it calls may dispose of it.
    fn core(&self) -> Option<Rc<Core>> {
        self.0.borrow().clone()
    }

    fn with<T: Default>(&self, act: impl FnOnce(&Core) -> T) -> T {
        self.core().map_or_else(T::default, |core| act(&core))
    }
}

#[wasm_bindgen]
impl Client {
    /// A family without calls.
    #[wasm_bindgen(constructor)]
    pub fn new(host: Host) -> Self {
        Self(RefCell::new(Some(Core::new(host))))
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
        self.with(|core| core.start(settings, run, number, options));
    }

    /// `fetch` settled, see `Run.send_`.
    #[wasm_bindgen(js_name = "settled_")]
    pub fn settled(&self, slot: u32, seq: u32, status: i32, value: JsValue) {
        self.with(|core| core.settled(slot, seq, status, value));
    }

    /// Whether that attempt is under way and has no outcome yet.
    #[wasm_bindgen(js_name = "awaits_")]
    pub fn awaits(&self, slot: u32, seq: u32) -> bool {
        self.with(|core| core.engine.borrow().awaits(slot, seq))
    }

    /// The attempt could not be made: a body factory threw, or what it gave is no body.
    #[wasm_bindgen(js_name = "unsent_")]
    pub fn unsent(&self, slot: u32, seq: u32, threw: bool, error: JsValue) {
        self.with(|core| core.unsent(slot, seq, threw, error));
    }

    /// Cancels a pending call; only if it waits for its circuit, where it is `queued`.
    #[wasm_bindgen(js_name = "cancel_")]
    pub fn cancel(&self, slot: u32, reason: JsValue, queued: bool) {
        self.with(|core| core.cancel(slot, reason, queued));
    }

    /// "Try now". False if it has no effect.
    #[wasm_bindgen(js_name = "retryNow_")]
    pub fn retry_now(&self, slot: u32) -> bool {
        self.with(|core| core.handle(slot, Input::RetryNow))
    }

    /// "Try again" on a call that is held. False if it is not.
    #[wasm_bindgen(js_name = "retry_")]
    pub fn retry(&self, slot: u32) -> bool {
        self.with(|core| core.handle(slot, Input::Retry))
    }

    /// Whether someone looks at the call's countdown.
    #[wasm_bindgen(js_name = "watch_")]
    pub fn watch(&self, slot: u32, watched: bool) {
        self.with(|core| core.handle(slot, Input::Watch(watched)));
    }

    /// Whether someone looks at the circuits or the client.
    #[wasm_bindgen(js_name = "observe_")]
    pub fn observe(&self, observed: bool) {
        self.with(|core| core.observe(observed));
    }

    /// A hook answered, or threw, see `Run.ask_`.
    #[wasm_bindgen(js_name = "answered_")]
    pub fn answered(&self, slot: u32, seq: u32, question: u32, threw: bool, answer: JsValue) {
        self.with(|core| core.answered(slot, seq, question, threw, answer));
    }

    /// The body is here, see `Run.read_`.
    #[wasm_bindgen(js_name = "bodyRead_")]
    pub fn body_read(&self, slot: u32, seq: u32, equal: JsValue) {
        self.with(|core| core.body_read(slot, seq, equal));
    }

    /// Whether the attempt, with a body of so many bytes, is sent with `keepalive`.
    #[wasm_bindgen(js_name = "keepAlive_")]
    pub fn keep_alive(&self, slot: u32, seq: u32, bytes: u32) -> bool {
        self.with(|core| core.keep_alive(slot, seq, bytes))
    }

    /// An attempt that was sent with `keepalive` is over.
    #[wasm_bindgen(js_name = "release_")]
    pub fn release(bytes: u32) {
        driver::release(bytes);
    }

    /// The timer is due, see `Host.arm_`.
    #[wasm_bindgen(js_name = "rang_")]
    pub fn rang(&self) {
        self.with(Core::rang);
    }

    /// Network, visibility, or a page that comes back: look again.
    #[wasm_bindgen(js_name = "wake_")]
    pub fn wake(&self) {
        self.with(Core::wake);
    }

    /// The state of every circuit, by `Host.circuit_`.
    #[wasm_bindgen(js_name = "circuits_")]
    pub fn circuits(&self) -> Vec<JsValue> {
        self.with(|core| {
            let now = core.clocks.now(&core.host);
            let views: Vec<_> = {
                let engine = core.engine.borrow();
                engine
                    .circuits()
                    .map(|(_, entry)| (entry.key().to_owned(), entry.breaker.view(now)))
                    .collect()
            };
            views.iter().map(|(key, view)| core.tell_circuit(key, *view, false)).collect()
        })
    }

    /// The snapshot of the client, by `Host.snapshot_`.
    #[wasm_bindgen(js_name = "snapshot_")]
    pub fn snapshot(&self) -> JsValue {
        self.with(|core| {
            // Looking changes nothing.
            core.clocks.now(&core.host);
            let online = page(&core.host).online;
            let (counts, retry_at) = {
                let engine = core.engine.borrow();
                (engine.counts(), engine.next_retry_at())
            };
            let at = retry_at.map_or(f64::INFINITY, |at| core.clocks.wall_ms(at));
            core.host.snapshot(counts.loading, counts.waiting, counts.offline, counts.queued, online, at)
        })
    }

    /// What has to survive a reload, by `Host.kept_`.
    #[wasm_bindgen(js_name = "kept_")]
    pub fn kept(&self) -> Vec<JsValue> {
        self.with(Core::tell_kept)
    }

    /// Takes up an entry of it: for how long the circuit is still open (below zero: closed), what is left of the budget and
    /// its age, and for how long the server wants no call, by which status.
    #[wasm_bindgen(js_name = "restore_")]
    #[allow(clippy::too_many_arguments)]
    pub fn restore(
        &self,
        settings: &Settings,
        key: &str,
        open: f64,
        doublings: u32,
        reason: u32,
        milli: f64,
        age: f64,
        parked: f64,
        status: u16,
    ) {
        let (circuit, budget, parked) = ((open, doublings, reason), (milli, age), (parked, status));
        self.with(|core| core.restore(&settings.policy, key, circuit, budget, parked));
    }

    /// Another tab told, see `Host.share_`; kind 0 asks for everything.
    #[wasm_bindgen(js_name = "hear_")]
    #[allow(clippy::too_many_arguments)]
    pub fn hear(&self, settings: &Settings, kind: u32, tab: u32, key: &str, a: f64, b: f64, c: f64, d: f64) {
        self.with(|core| core.hear(&settings.policy, kind, tab, key, a, b, c, d));
    }

    /// What came of asking for the lock, see `Run.lock_`: 0 is granted, 1 missing, 2 taken. False if it is not wanted any
    /// more.
    #[wasm_bindgen(js_name = "locked_")]
    pub fn locked(&self, slot: u32, seq: u32, lock: u32) -> bool {
        let lock = match lock {
            0 => Lock::Granted,
            1 => Lock::Missing,
            _ => Lock::Taken,
        };
        self.with(|core| core.handle(slot, Input::Locked { seq, lock }))
    }

    /// Holds the circuit of `key` open by hand; gives its place, for [`let_go`](Self::let_go). Throws where there are
    /// too many, or the key is too long.
    #[wasm_bindgen(js_name = "isolate_")]
    pub fn isolate(&self, settings: &Settings, key: &str) -> Result<u32, JsValue> {
        if key.encode_utf16().count() > driver::LONGEST_KEY as usize {
            let text = "steadfetch: circuits.isolate() takes a key of at most 2048 characters";
            return Err(TypeError::new(text).into());
        }
        let Some(core) = self.core() else { return Ok(0) };
        let now = core.now();
        let policy = settings.policy.breaker.unwrap_or_default();
        let id = core.engine.borrow_mut().resolve(key, Some(policy), now);
        let held = core.engine.borrow_mut().isolate(id, now);
        core.drain();
        let text = "steadfetch: circuits.isolate() holds at most 1000 circuits at once";
        if held { Ok(id.0) } else { Err(RangeError::new(text).into()) }
    }

    /// Lets one hold go.
    #[wasm_bindgen(js_name = "letGo_")]
    pub fn let_go(&self, id: u32) {
        self.with(|core| {
            let now = core.now();
            core.engine.borrow_mut().let_go(CircuitId(id), now);
            core.drain();
        });
    }

    /// Closes the circuit of `key`, or all.
    #[wasm_bindgen(js_name = "reset_")]
    pub fn reset(&self, key: Option<String>) {
        self.with(|core| {
            let now = core.now();
            let ids: Vec<_> = {
                let engine = core.engine.borrow();
                let named =
                    |id: &CircuitId| key.as_ref().is_none_or(|key| engine.find_circuit(key) == Some(*id));
                engine.circuits().map(|(id, _)| id).filter(named).collect()
            };
            for id in ids {
                core.engine.borrow_mut().reset(id, now);
            }
            core.drain();
        });
    }

    /// Cancels every pending call, and lets go of all that the core holds as soon as nothing of it runs. True if
    /// nothing does, so that this object can be freed.
    #[wasm_bindgen(js_name = "dispose_")]
    pub fn dispose(&self, reason: &JsValue) -> bool {
        let core = self.0.take();
        core.is_none_or(|core| {
            core.cancel_all(reason);
            core.observe(false);
            Rc::strong_count(&core) == 1
        })
    }
}
