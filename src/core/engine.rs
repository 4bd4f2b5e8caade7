//! All calls of a client with their circuits and deadlines: takes what happened, one input at a time, and hands
//! out commands. Drain [`Engine::take_commands`] after each input.

use super::breaker::{Breaker, Reason, Refusal, Status, View};
use super::budget::Bucket;
use super::call::{Action, Call, Command, Env, Input, Kind, Setup};
use super::connectivity::Page;
use super::keepalive::Quota;
use super::line::Links;
use super::policy::{self, Policy};
use super::ramp::Ramp;
use super::registry::{CircuitId, Entry, Parked, Registry};
use super::rng::Rng;
use super::shared::{self, News, Stamp};
use super::time::{Instant, Span};
use super::timers::Timers;

/// How many calls are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `loading`.
    pub loading: u32,
    /// `waiting`.
    pub waiting: u32,
    /// `offline`.
    pub offline: u32,
    /// `circuit-open`, in the queue.
    pub queued: u32,
}

/// What is kept of a key for a reload: never counts, only decisions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept<'a> {
    /// The key.
    pub key: &'a str,
    /// Until when its circuit is open, how often that time was doubled, and why.
    pub circuit: Option<(Instant, u32, Option<Reason>)>,
    /// What is left of its budget, in thousandths of a token, and for how long it was not refilled.
    pub budget: Option<(u64, Span)>,
    /// What the server asked of all its calls.
    pub parked: Option<Parked>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Engine {
    now: Instant,
    rng: Rng,
    page: Page,
    seq: u32,
    calls: Vec<Option<Call>>,
    free: Vec<u32>,
    registry: Registry,
    /// Of those who wait for their circuits.
    links: Links,
    call_timers: Timers,
    /// The deadlines of calls with an attempt under way.
    limits: Timers,
    circuit_timers: Timers,
    counts: Counts,
    version: u32,
    tab: u32,
    /// When a tab came that is not answered yet, and when the next answer may be given.
    asked: Option<Instant>,
    next_answer: Instant,
    /// Someone looks at the circuits, so they must change on time and not only when the next call comes.
    observed: bool,
    out: Vec<Command>,
}

impl Engine {
    /// The step of a circuit's countdown.
    const CIRCUIT_TICK: Span = Span::from_secs(1);

    /// An engine without calls.
    pub fn new(seed: u64, page: Page) -> Self {
        Self {
            now: Instant::default(),
            rng: Rng::new(seed),
            tab: Rng::new(!seed).bits() as u32,
            page,
            seq: 0,
            calls: Vec::new(),
            free: Vec::new(),
            registry: Registry::default(),
            links: Links::default(),
            call_timers: Timers::default(),
            limits: Timers::default(),
            circuit_timers: Timers::default(),
            counts: Counts::default(),
            version: 0,
            asked: None,
            next_answer: Instant::default(),
            observed: false,
            out: Vec::new(),
        }
    }

    // ------------------------------------------------------------ what it is

    /// How many calls are in which state.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// The latest moment it was told of.
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Counts up whenever counts, circuits or the page change.
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Whether there is a call under way or waiting.
    pub const fn is_busy(&self) -> bool {
        let Counts { loading, waiting, offline, queued } = self.counts;
        loading + waiting + offline + queued > 0
    }

    /// Whether anything depends on what the browser says about network and visibility.
    pub const fn needs_page(&self) -> bool {
        self.observed || self.counts.waiting + self.counts.offline + self.counts.queued > 0
    }

    /// When [`wake`](Self::wake) is wanted.
    pub fn next_timeout(&self) -> Option<Instant> {
        let timers = [&self.call_timers, &self.limits, &self.circuit_timers];
        let first = timers.into_iter().filter_map(Timers::first).map(|(at, _)| at);
        let answer = self.asked.map(|asked| asked.max(self.next_answer));
        first.chain(answer).min()
    }

    /// The next end of a wait.
    pub fn next_retry_at(&self) -> Option<Instant> {
        self.calls.iter().flatten().filter_map(Call::retry_at).min()
    }

    /// Whether `seq` is the attempt of the call in `slot` that is under way.
    pub fn is_current(&self, slot: u32, seq: u32) -> bool {
        self.call(slot).is_some_and(|call| call.is_current(seq))
    }

    /// Whether that attempt has no outcome yet.
    pub fn awaits(&self, slot: u32, seq: u32) -> bool {
        self.call(slot).is_some_and(|call| call.awaits(seq))
    }

    /// Whether the call in `slot` waits for its circuit.
    pub fn is_queued(&self, slot: u32) -> bool {
        self.call(slot).is_some_and(|call| call.kind() == Kind::Queued)
    }

    /// The circuit of the call in `slot`.
    pub fn circuit_of(&self, slot: u32) -> Option<&Entry> {
        self.registry.get(self.call(slot)?.circuit()?)
    }

    /// The options of the call in `slot`.
    pub fn policy_of(&self, slot: u32) -> Option<&Policy> {
        Some(self.call(slot)?.policy())
    }

    /// The circuits and their keys.
    pub fn circuits(&self) -> impl Iterator<Item = (CircuitId, &Entry)> {
        self.registry.iter().filter(|(_, entry)| entry.guarded)
    }

    /// Who waits for it, in order.
    pub fn waiters(&self, id: CircuitId) -> impl Iterator<Item = u32> {
        self.registry.get(id).into_iter().flat_map(|entry| entry.waiters.iter(&self.links))
    }

    /// One circuit, if it is still there.
    pub fn circuit(&self, id: CircuitId) -> Option<&Entry> {
        self.registry.get(id)
    }

    /// The circuit of `key`, if there is one.
    pub fn find_circuit(&self, key: &str) -> Option<CircuitId> {
        self.registry.find(key)
    }

    /// What is left of an open circuit's time, in whole seconds rounded up.
    pub fn open_for(&self, status: Status) -> Span {
        match status {
            Status::Open(until) => (until - self.now).round_up(Self::CIRCUIT_TICK),
            _ => Span::ZERO,
        }
    }

    fn call(&self, slot: u32) -> Option<&Call> {
        self.calls.get(slot as usize)?.as_ref()
    }

    // ------------------------------------------------------------ what happens to it

    /// It is that time, of which nothing comes yet; before something is looked at, too. Time never runs back.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// Takes what there is to do, in order, into the empty `into`.
    pub fn take_commands(&mut self, into: &mut Vec<Command>) {
        core::mem::swap(&mut self.out, into);
    }

    /// The place of `key`, made if there is none; without a policy its circuit is not passed.
    pub fn resolve(&mut self, key: &str, policy: Option<policy::Breaker>, now: Instant) -> CircuitId {
        self.advance(now);
        self.version = self.version.wrapping_add(1);
        self.registry.resolve(key, policy, self.now)
    }

    /// Gives the call a place. It begins with [`Input::Start`].
    pub fn insert(&mut self, setup: Setup) -> u32 {
        if let Some(entry) = setup.circuit.and_then(|id| self.registry.get_mut(id)) {
            entry.users += 1;
        }
        let call = Some(Call::new(setup));
        if let Some(slot) = self.free.pop()
            && let Some(place) = self.calls.get_mut(slot as usize)
        {
            *place = call;
            return slot;
        }
        self.calls.push(call);
        self.links.grow();
        self.calls.len() as u32 - 1
    }

    /// Forgets a call that is over; its place may be given to another.
    pub fn remove(&mut self, slot: u32) {
        let Some(place) = self.calls.get_mut(slot as usize) else {
            return;
        };
        let Some(call) = place.take_if(|call| call.is_done()) else {
            return;
        };
        self.free.push(slot);
        if let Some(entry) = call.circuit().and_then(|id| self.registry.get_mut(id)) {
            entry.users -= 1;
        }
    }

    /// Tells the call in `slot` what happened. True if it had an effect.
    pub fn handle(&mut self, slot: u32, input: Input, now: Instant) -> bool {
        self.advance(now);
        let circuit = self.call(slot).and_then(Call::circuit);
        // Those that wait for the circuit come before whoever comes now. Who does not want it any more goes at once:
        // its turn, or the end of its time, may have come unseen in the same moment.
        // A click does not wait for its turn either.
        if matches!(input, Input::Cancel | Input::RetryNow | Input::Retry) {
            self.pass_time(circuit);
        } else {
            self.serve(circuit);
        }
        let effect = self.step(slot, input);
        self.serve(circuit);
        effect
    }

    /// Several calls are cancelled at once, and this one waits for its circuit: it goes, and nobody takes its turn
    /// until the others have gone too.
    pub fn drop_out(&mut self, slot: u32, now: Instant) {
        self.advance(now);
        self.pass_time(self.call(slot).and_then(Call::circuit));
        self.step(slot, Input::Cancel);
        if let Some(id) = self.call(slot).and_then(Call::circuit) {
            // Whoever is left is served once all have gone: the circuit may be half-open since this moment.
            self.circuit_timers.set(id.0, Some(self.now));
        }
    }

    /// Whether the attempt that is about to be sent is sent with `keepalive`, which takes of the `quota`.
    pub fn keep_alive(&mut self, slot: u32, seq: u32, bytes: u32, quota: &mut Quota) -> bool {
        let call = self.calls.get_mut(slot as usize).and_then(Option::as_mut);
        call.is_some_and(|call| call.keep_alive(seq, bytes, quota))
    }

    /// Lets everything happen that is due. Attempts that have run out come first, alone: what their end means for the
    /// circuits has to be known before another is let through. True if that was all; carry it out and wake once more.
    pub fn wake(&mut self, now: Instant) -> bool {
        self.advance(now);
        let mut limited = false;
        while let Some((at, slot)) = self.limits.first()
            && at <= self.now
        {
            limited = true;
            self.step(slot, Input::Timer);
            // One that is over has given its permit back, and the circuit is served after the others have ended.
            if let Some(call) = self.call(slot).filter(|call| call.kind() != Kind::Loading)
                && let Some(id) = call.circuit()
            {
                self.circuit_timers.set(id.0, Some(self.now));
            }
        }
        if limited {
            return true;
        }
        while let Some((at, slot)) = self.call_timers.first()
            && at <= self.now
        {
            let circuit = self.call(slot).and_then(Call::circuit);
            self.serve(circuit);
            self.step(slot, Input::Timer);
            self.serve(circuit);
        }
        while let Some((at, id)) = self.circuit_timers.first()
            && at <= self.now
        {
            self.version = self.version.wrapping_add(1);
            self.circuit_timers.set(id, None);
            self.serve(Some(CircuitId(id)));
        }
        self.answer();
        false
    }

    /// What the browser says now.
    pub fn set_page(&mut self, page: Page, now: Instant) {
        self.advance(now);
        let old = core::mem::replace(&mut self.page, page);
        if old == page {
            return;
        }
        self.version = self.version.wrapping_add(1);
        for slot in 0..self.calls.len() as u32 {
            if old.online != page.online {
                self.step(slot, if page.online { Input::Online } else { Input::Offline });
            }
            if old.visible != page.visible {
                self.step(slot, Input::Watched);
            }
        }
        self.set_observed(self.observed);
    }

    /// Whether someone looks at the circuits.
    pub fn set_observed(&mut self, observed: bool) {
        self.observed = observed;
        for id in 0..self.registry.places() {
            self.serve(Some(CircuitId(id)));
        }
    }

    /// Holds the circuit open by hand. False if as many are held as are kept.
    pub fn isolate(&mut self, id: CircuitId, now: Instant) -> bool {
        self.advance(now);
        let held = |entry: &Entry| entry.breaker.status() == Status::Isolated;
        let known = self.registry.get(id).is_some_and(held);
        if !known && self.registry.iter().filter(|(_, entry)| held(entry)).count() >= Registry::CAPACITY {
            return false;
        }
        if let Some(entry) = self.registry.get_mut(id) {
            entry.users += 1;
        }
        self.hold(id, Breaker::isolate);
        true
    }

    /// Lets one hold go.
    pub fn let_go(&mut self, id: CircuitId, now: Instant) {
        self.advance(now);
        if let Some(entry) = self.registry.get_mut(id) {
            entry.users -= 1;
        }
        self.hold(id, Breaker::let_go);
    }

    /// What is held here is not held in the other tabs, and they are told only what time had done before.
    fn hold(&mut self, id: CircuitId, act: fn(&mut Breaker)) {
        self.pass_time(Some(id));
        self.notice(id, true);
        self.act(id, act);
        self.notice(id, false);
        self.serve(Some(id));
    }

    /// Closes the circuit and forgets its outcomes, and what the server asked for.
    pub fn reset(&mut self, id: CircuitId, now: Instant) {
        self.advance(now);
        if let Some(entry) = self.registry.get_mut(id)
            && entry.parked.take().is_some()
            && entry.shared.is_some()
        {
            let news = News::Parked { until: self.now, status: 0 };
            self.out.push(Command { slot: id.0, action: Action::Share(news) });
        }
        self.act(id, Breaker::reset);
        self.serve(Some(id));
    }

    /// Does something with a circuit and tells if it changed.
    fn act(&mut self, id: CircuitId, act: impl FnOnce(&mut Breaker)) {
        let Some(entry) = self.registry.get_mut(id) else {
            return;
        };
        let (epoch, was) = (entry.breaker.epoch(), entry.breaker.view(self.now).status);
        act(&mut entry.breaker);
        // What another tab told may be over already.
        entry.breaker.advance(self.now, &mut self.rng);
        self.version = self.version.wrapping_add(1);
        let view = entry.breaker.view(self.now);
        if entry.breaker.epoch() != epoch && view.status != was {
            self.out.push(Command { slot: id.0, action: Action::Circuit(view) });
        }
    }

    // ------------------------------------------------------------ other tabs

    /// Which tab this is, in [`Stamp`].
    pub const fn tab(&self) -> u32 {
        self.tab
    }

    /// Another tab told of `key`; by the options of the client.
    pub fn hear(&mut self, key: &str, news: News, options: &Policy, now: Instant) {
        self.advance(now);
        let (now, latest) = (self.now, self.now + shared::LONGEST);
        if options.breaker.is_none() {
            return;
        }
        let id = self.registry.resolve(key, options.breaker, now);
        self.pass_time(Some(id));
        let Some(entry) = self.registry.get_mut(id) else { return };
        match news {
            News::Circuit { stamp, until, doublings, reason } => {
                let until = until.map(|until| until.min(latest));
                let known = entry.shared.unwrap_or_default();
                let stamp = stamp.within_reach(known);
                // Of two tabs that open it at once, the longer time holds in both. The same opening told once more is
                // no longer, though the wall clock was set back meanwhile.
                let longer = match (until, entry.breaker.beneath()) {
                    (Some(theirs), Status::Open(ours)) => theirs > ours && stamp != known,
                    _ => stamp > known,
                };
                entry.shared = Some(known.max(stamp));
                if stamp >= known {
                    entry.heard = Some(now);
                }
                if longer {
                    self.act(id, |breaker| breaker.follow(until, doublings, reason));
                    self.notice(id, false);
                }
            }
            News::Parked { until, status } => {
                if status == 0 {
                    entry.parked = None;
                } else {
                    entry.park(Some(Parked { until, status }), now);
                }
            }
            News::Probe(until) => entry.breaker.wait_for(until.min(now + shared::LONGEST_PROBE)),
            News::Budget(_) | News::Left(_) => {
                let Some(policy) = &options.budget else { return };
                let bucket = entry.budget.get_or_insert_with(|| Bucket::new(policy, now, &mut self.rng));
                match news {
                    News::Budget(by) => bucket.shift(by, policy, now),
                    News::Left(milli) => bucket.limit(milli, policy, now),
                    _ => {}
                }
            }
        }
        self.version = self.version.wrapping_add(1);
        self.serve(Some(id));
    }

    /// Another tab has come, and is told everything.
    pub fn tell_all(&mut self, now: Instant) {
        self.advance(now);
        self.asked = Some(self.now);
        self.answer();
    }

    /// Tells everything to the tabs that have come, if it is time to.
    fn answer(&mut self) {
        let now = self.now;
        let Some(asked) = self.asked.filter(|_| self.next_answer <= now) else { return };
        self.asked = None;
        self.next_answer = now + shared::ANSWER_EVERY;
        for (id, entry) in self.registry.iter() {
            let Some(stamp) = entry.shared else { continue };
            if entry.heard > Some(asked) {
                // Another tab has told the same in the meantime.
                continue;
            }
            let mut tell = |news| self.out.push(Command { slot: id.0, action: Action::Share(news) });
            match entry.breaker.beneath() {
                Status::Open(until) => tell(circuit_news(&entry.breaker, stamp, Some(until))),
                // As one that is open no more.
                Status::HalfOpen => tell(circuit_news(&entry.breaker, stamp, Some(Instant::default()))),
                _ => {}
            }
            if let Some(until) = entry.breaker.awaited(now + shared::ASK_AGAIN) {
                tell(News::Probe(until));
            }
            if let Some(Parked { until, status }) = entry.parked.filter(|parked| parked.until > now) {
                tell(News::Parked { until, status });
            }
            if let Some(bucket) = entry.budget {
                tell(News::Left(bucket.left()));
            }
        }
    }

    // ------------------------------------------------------------ what survives a reload

    /// What is worth keeping of each key.
    pub fn kept(&self) -> impl Iterator<Item = Kept<'_>> {
        self.registry.iter().filter_map(|(_, entry)| {
            let circuit = entry.breaker.kept(self.now);
            let budget = entry.budget.map(|bucket| (bucket.left(), self.now - bucket.filled()));
            let parked = entry.parked.filter(|parked| parked.until > self.now);
            let any = circuit.is_some() || budget.is_some() || parked.is_some();
            any.then_some(Kept { key: entry.key(), circuit, budget, parked })
        })
    }

    /// Takes up what was kept, by the options of the client. Nothing keeps a circuit open longer than a day.
    pub fn restore(&mut self, kept: Kept<'_>, options: &Policy, now: Instant) {
        self.advance(now);
        let circuit = kept.circuit.filter(|_| options.breaker.is_some());
        let budget = kept.budget.filter(|_| options.budget.is_some());
        let parked = kept.parked.filter(|_| options.breaker.is_some());
        if circuit.is_none() && budget.is_none() && parked.is_none() {
            return;
        }
        let id = self.registry.resolve(kept.key, options.breaker, self.now);
        let now = self.now;
        self.version = self.version.wrapping_add(1);
        let Some(entry) = self.registry.get_mut(id) else { return };
        if let Some((until, doublings, reason)) = circuit {
            entry.breaker.restore(until.min(now + shared::LONGEST), doublings, reason);
        }
        if let (Some((milli, age)), Some(policy)) = (budget, &options.budget) {
            entry.budget = Some(Bucket::restored(milli, age, policy, now));
        }
        entry.park(parked, now);
        self.set_circuit_timer(id);
    }

    // ------------------------------------------------------------ how

    /// One input to one call, and all that follows from it for counters, queues and deadlines.
    fn step(&mut self, slot: u32, input: Input) -> bool {
        let Some(call) = self.calls.get_mut(slot as usize).and_then(Option::as_mut) else {
            return false;
        };
        let circuit = call.circuit();
        let before = call.kind();
        let guarded = call.is_guarded();
        let mut entry = circuit.and_then(|id| self.registry.get_mut(id));
        let shared = entry.as_deref().is_some_and(|entry| entry.shared.is_some());
        let (breaker, budget, ramp, parked) = match entry.as_deref_mut() {
            Some(Entry { breaker, budget, ramp, parked, .. }) => {
                (guarded.then_some(breaker), Some(budget), ramp.as_mut(), parked.filter(|_| guarded))
            }
            None => (None, None, None, None),
        };
        let mut env = Env {
            now: self.now,
            rng: &mut self.rng,
            online: self.page.online,
            parked,
            breaker,
            budget,
            ramp: ramp.filter(|_| guarded),
            shared: guarded && shared,
            seq: &mut self.seq,
            out: &mut self.out,
            slot,
            circuit,
        };
        let effect = call.handle(input, &mut env);
        let parked = env.parked;
        let after = call.kind();
        let timeout = call.next_timeout(self.page.visible);
        self.limits.set(slot, timeout.filter(|_| after == Kind::Loading));
        self.call_timers.set(slot, timeout.filter(|_| after != Kind::Loading));
        if let Some(entry) = &mut entry
            && guarded
            && core::mem::replace(&mut entry.parked, parked) != parked
            && let (Some(id), Some(Parked { until, status }), true) = (circuit, parked, shared)
        {
            self.out.push(Command { slot: id.0, action: Action::Share(News::Parked { until, status }) });
        }
        if before != after {
            if let Some(entry) = entry {
                if before == Kind::Queued {
                    entry.waiters.remove(slot, &mut self.links);
                } else if after == Kind::Queued {
                    entry.waiters.push(slot, &mut self.links);
                }
            }
            self.count(before, u32::MAX);
            self.count(after, 1);
        }
        if effect {
            self.version = self.version.wrapping_add(1);
        }
        effect
    }

    /// Adds to one of the counters; `u32::MAX` is minus one.
    fn count(&mut self, kind: Kind, by: u32) {
        let counter = match kind {
            Kind::Loading => &mut self.counts.loading,
            Kind::Waiting => &mut self.counts.waiting,
            Kind::Offline => &mut self.counts.offline,
            Kind::Queued => &mut self.counts.queued,
            Kind::Idle | Kind::Held => return,
        };
        *counter = counter.wrapping_add(by);
    }

    /// Lets time pass for a circuit, gives its permits to those who wait, in order, and tells the others what
    /// they wait for.
    fn serve(&mut self, circuit: Option<CircuitId>) {
        let Some(id) = circuit else { return };
        let refusal = loop {
            self.pass_time(circuit);
            self.notice(id, true);
            let Some(entry) = self.registry.get_mut(id) else {
                return;
            };
            let refusal = entry.breaker.refusal(false);
            match (entry.waiters.first(), &mut entry.ramp) {
                (Some(head), Some(ramp)) if refusal.is_none() && ramp.next() <= self.now => {
                    ramp.go();
                    self.step(head, Input::Turn)
                }
                (Some(head), None) if refusal.is_none() => self.step(head, Input::Turn),
                _ => break refusal,
            };
        };
        if let Some(refusal) = refusal {
            self.tell_waiters(id, refusal);
        }
        self.set_circuit_timer(id);
    }

    /// Lets time pass for a circuit alone. What has come and gone unseen is told too.
    fn pass_time(&mut self, circuit: Option<CircuitId>) {
        let Some((id, entry)) = circuit.and_then(|id| Some((id, self.registry.get_mut(id)?))) else { return };
        loop {
            let epoch = entry.breaker.epoch();
            entry.breaker.advance(self.now, &mut self.rng);
            if entry.breaker.epoch() == epoch {
                return;
            }
            self.version = self.version.wrapping_add(1);
            let view = View { status: entry.breaker.status(), ..entry.breaker.view(self.now) };
            self.out.push(Command { slot: id.0, action: Action::Circuit(view) });
        }
    }

    /// What follows from a transition. A circuit that has just closed lets go slowly of those that wait for it, one that
    /// opens again of none; and the other tabs are told, unless the news came from one of them.
    fn notice(&mut self, id: CircuitId, share: bool) {
        let (now, tab) = (self.now, self.tab);
        let Some(entry) = self.registry.get_mut(id) else {
            return;
        };
        if entry.ramp.is_some_and(|ramp| ramp.is_over(now)) {
            entry.ramp = None;
        }
        let epoch = entry.breaker.epoch();
        if core::mem::replace(&mut entry.seen, epoch) == epoch {
            return;
        }
        entry.ramp = None;
        if entry.shared.is_some() {
            // A probe that was given up, or overtaken, keeps no other tab from sending one.
            for (slot, call) in (0..).zip(&self.calls) {
                if let Some(call) = call.as_ref().filter(|call| call.circuit() == Some(id))
                    && let Some(seq) = call.lost_probe(&entry.breaker)
                {
                    self.out.push(Command { slot, action: Action::Unlock { seq } });
                }
            }
        }
        if let (Some(stamp), true) = (&mut entry.shared, share)
            && let Some(news) = told(&entry.breaker, stamp.next(tab))
        {
            *stamp = stamp.next(tab);
            self.out.push(Command { slot: id.0, action: Action::Share(news) });
        }
        if entry.breaker.status() != Status::Closed {
            return;
        }
        let waiters: Vec<u32> = entry.waiters.iter(&self.links).collect();
        let retries =
            |call: &&Call| call.circuit() == Some(id) && call.kind() == Kind::Waiting && call.is_guarded();
        let others = self.calls.iter().flatten().filter(retries).count() as u32;
        let ramp = Ramp::new(waiters.len() as u32, others, now);
        if let Some(entry) = self.registry.get_mut(id) {
            entry.ramp = ramp;
            entry.told = None;
        }
        if let Some(ramp) = ramp {
            for (index, slot) in (0..).zip(waiters) {
                self.step(slot, Input::Place(ramp.moment(index)));
            }
        }
    }

    fn tell_waiters(&mut self, id: CircuitId, refusal: Refusal) {
        let Some(entry) = self.registry.get_mut(id) else {
            return;
        };
        if entry.told == Some(refusal) {
            return;
        }
        entry.told = Some(refusal);
        let waiters: Vec<u32> = entry.waiters.iter(&self.links).collect();
        for slot in waiters {
            self.step(slot, Input::Refused);
        }
    }

    /// A circuit has a timer only while someone waits for it or looks at it, or it waits for a probe.
    fn set_circuit_timer(&mut self, id: CircuitId) {
        let Some(entry) = self.registry.get(id) else {
            return;
        };
        let mut at = None;
        // What becomes of a probe must not depend on who looks.
        let probing = entry.breaker.status() == Status::HalfOpen;
        let waited_for = entry.waiters.first().is_some();
        if self.observed || waited_for || probing {
            at = entry.breaker.next_timeout();
            if let Some(ramp) = entry.ramp.filter(|_| waited_for) {
                at = Some(ramp.next());
            }
            if let Status::Open(until) = entry.breaker.status()
                && self.observed
                && self.page.visible
            {
                let shown = self.open_for(entry.breaker.status());
                if shown <= Span::LONGEST {
                    at = Some(until - (shown - Self::CIRCUIT_TICK));
                }
            }
        }
        self.circuit_timers.set(id.0, at);
    }
}

/// What other tabs are told of a circuit: that it opened or closed. Half-open it becomes in each tab by itself.
fn told(breaker: &Breaker, stamp: Stamp) -> Option<News> {
    match breaker.beneath() {
        Status::Open(until) => Some(circuit_news(breaker, stamp, Some(until))),
        Status::Closed => Some(circuit_news(breaker, stamp, None)),
        Status::HalfOpen | Status::Isolated => None,
    }
}

fn circuit_news(breaker: &Breaker, stamp: Stamp, until: Option<Instant>) -> News {
    News::Circuit { stamp, until, doublings: breaker.doublings(), reason: breaker.reason() }
}
