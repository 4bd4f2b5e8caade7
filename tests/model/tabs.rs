//! Two tabs with one key: two real engines, the lock of the key, and news that comes in any order or never. All lengths
//! of time are whole seconds, as is the time after which a tab asks for the lock again.

use std::sync::{Arc, LazyLock};

use stateright::{Model, Property};
use steadfetch::core::breaker::{Breaker, Status};
use steadfetch::core::call::{Action, Command, Hooks, Input, Setup, View};
use steadfetch::core::classify::{Outcome, Traits};
use steadfetch::core::connectivity::Page;
use steadfetch::core::engine::{Counts, Engine};
use steadfetch::core::policy::{self, OnCircuitOpen, Policy, Retry};
use steadfetch::core::registry::{CircuitId, Entry};
use steadfetch::core::shared::{Lock, News, Stamp};
use steadfetch::core::time::{Instant, Span};

use super::canonical::{Present, form, micros};
use super::{Known, engine, exhaust};

const KEY: &str = "a";
const ID: CircuitId = CircuitId(0);
const OPEN: Span = Span::from_secs(1);
const LEASE: Span = Span::from_secs(2);
/// Two calls that hang one after the other, each with its lease and the open time that follows, and one more second
/// for the lock.
const BOUND: Span = Span::from_secs(8);

/// One that is given up or overtaken by news gives the lock back, and no longer counts.
const PROBES: &str = "never two probes at once where there are locks";
const PERMITS: &str =
    "each tab lets as many probes through as it has permits, and neither permit nor lock is lost";
const PASSES: &str = "nothing passes an open circuit";
/// But of two times for which it is open the longer one holds, whichever is newer.
const STAMPS: &str = "the newest transition that was heard of is followed, and an older one changes nothing";
const EARLY: &str = "open does not end early but by a success elsewhere or by a person";
const EVENTS: &str = "one event per transition";
const SETTLES: &str = "every call settles and leaves nothing behind";
const ALONE: &str = "a tab that is left alone gets a probe through in bounded time, whatever the others told";
/// A success closes the circuit in its own tab. The other follows, unless it knows of a later transition, or this one
/// had never heard that the circuit is open: that is what lost news costs. Then a success of its own closes it.
const CLOSED: &str = "closed stays reachable in both tabs";

const TOLD: &str = "a tab that comes later is told what the others know";

/// As in the model of one engine; stamps are compared by what is between them, and one tab comes at most.
static WITHOUT: LazyLock<Vec<&str>> =
    LazyLock::new(|| [engine::WITHOUT, &["shared", "next_answer"]].concat());

/// What a call looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Idle,
    /// The lock is asked for.
    Locking,
    Loading,
    Queued,
    Over,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    told: Told,
    /// Starts that are left.
    left: u8,
    seq: u32,
    /// The epoch in which it was let through, and whether as a probe.
    admitted: (u64, bool),
    /// A person wants it now.
    clicked: bool,
    /// When a probe asked for the lock.
    asked: Instant,
    /// A probe is on its way.
    sent: bool,
}

#[derive(Clone, Debug)]
struct Tab {
    engine: Engine,
    calls: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Message {
    to: usize,
    news: News,
}

#[derive(Clone, Debug)]
struct Origin {
    tabs: [Option<Tab>; 2],
    now: Instant,
    /// The tab, the call and its attempt that have the lock.
    lock: Option<(usize, usize, u32)>,
    air: Vec<Message>,
    broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Start(usize, usize),
    Locked(usize, usize),
    Answer(usize, usize, bool),
    Cancel(usize, usize),
    RetryNow(usize, usize),
    Wake(usize),
    Pass(Instant),
    Deliver(usize),
    Lose(usize),
    Die(usize),
    Come,
}

/// What becomes of news while all goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Air {
    Lost,
    Heard,
}

#[derive(Clone, Debug)]
struct Tabs {
    breaker: policy::Breaker,
    /// The calls of each tab, and how often each may start.
    calls: [Vec<(Arc<Policy>, u8)>; 2],
    /// Most news in the air.
    most: usize,
    locks: bool,
    clicks: bool,
    deaths: bool,
    /// The second tab is opened at some time.
    late: bool,
}

impl Tab {
    fn entry(&self) -> &Entry {
        self.engine.circuit(ID).expect("no key is ever given up for another")
    }

    fn breaker(&self) -> &Breaker {
        &self.entry().breaker
    }

    fn stamp(&self) -> Stamp {
        self.entry().shared.unwrap_or_default()
    }

    /// Probes of the present epoch that are out, or ask for the lock.
    fn admitted(&self) -> usize {
        let epoch = self.breaker().epoch();
        let out = |call: &&Seen| matches!(call.told, Told::Locking | Told::Loading);
        self.calls.iter().filter(out).filter(|call| call.admitted == (epoch, true)).count()
    }

    fn due(&self, now: Instant) -> bool {
        self.engine.next_timeout().is_some_and(|at| at <= now)
    }

    /// The circuit once time alone has done what it does.
    fn stood(&self, now: Instant) -> Breaker {
        let mut copy = self.engine.clone();
        copy.handle(u32::MAX, Input::Start, now);
        copy.resolve(KEY, None, now);
        let mut breaker = copy.circuit(ID).expect("as before").breaker.clone();
        breaker.advance(now, &mut steadfetch::core::rng::Rng::new(1));
        breaker
    }
}

impl Origin {
    fn tab(&self, tab: usize) -> &Tab {
        self.tabs[tab].as_ref().expect("only what lives does anything")
    }

    fn tab_mut(&mut self, tab: usize) -> &mut Tab {
        self.tabs[tab].as_mut().expect("only what lives does anything")
    }

    fn live(&self) -> impl Iterator<Item = (usize, &Tab)> {
        self.tabs.iter().enumerate().filter_map(|(index, tab)| Some((index, tab.as_ref()?)))
    }

    fn note(&mut self, ok: bool, property: &'static str) {
        self.broken = self.broken.or((!ok).then_some(property));
    }

    /// Carries out one step and all that follows from it, and looks at it from outside.
    fn act(&mut self, model: &Tabs, act: Act) {
        let now = self.now;
        match act {
            Act::Pass(at) => self.now = at,
            Act::Lose(index) => drop(self.air.remove(index)),
            Act::Die(tab) => self.die(tab),
            Act::Come => {
                self.tabs[1] = Some(model.tab(1, now));
                let tell = |tab: &mut Tab| {
                    tab.engine.tell_all(now);
                    true
                };
                self.input(model, 0, tell, (false, 0));
                let told = self.tells_all(model);
                self.note(told, TOLD);
            }
            Act::Start(tab, call) => {
                self.input(model, tab, |tab| tab.engine.handle(call as u32, Input::Start, now), (false, 0));
            }
            Act::Cancel(tab, call) => {
                self.input(model, tab, |tab| tab.engine.handle(call as u32, Input::Cancel, now), (false, 0));
            }
            Act::Answer(tab, call, good) => {
                let seq = self.tab(tab).calls[call].seq;
                let status = if good { 200 } else { 500 };
                let outcome = Outcome::Answer { status, hint: None };
                let input = Input::Outcome { seq, outcome, failure: None };
                self.input(model, tab, |tab| tab.engine.handle(call as u32, input, now), (false, 0));
            }
            Act::RetryNow(tab, call) => {
                // Without effect where a probe is out.
                let click = |tab: &mut Tab| {
                    tab.calls[call].clicked = tab.engine.handle(call as u32, Input::RetryNow, now);
                    true
                };
                self.input(model, tab, click, (true, 0));
            }
            Act::Wake(tab) => {
                let wake = |tab: &mut Tab| {
                    tab.engine.wake(now);
                    !tab.due(now)
                };
                self.input(model, tab, wake, (false, 0));
            }
            Act::Locked(tab, call) => {
                let seq = self.tab(tab).calls[call].seq;
                let lock = match self.lock {
                    _ if !model.locks => Lock::Missing,
                    None => Lock::Granted,
                    Some(_) => Lock::Taken,
                };
                if lock == Lock::Granted {
                    self.lock = Some((tab, call, seq));
                }
                let input = Input::Locked { seq, lock };
                let clicked = self.tab(tab).calls[call].clicked;
                self.input(model, tab, |tab| tab.engine.handle(call as u32, input, now), (clicked, 0));
            }
            Act::Deliver(index) => {
                let Message { to, news } = self.air.remove(index);
                self.hear(model, to, news);
            }
        }
        self.look(model);
    }

    /// Whether the tab that has come knows what the other one does, once it has heard.
    fn tells_all(&self, model: &Tabs) -> bool {
        let mut origin = self.clone();
        while !origin.air.is_empty() {
            origin.act(model, Act::Deliver(0));
        }
        let [old, new] = [0, 1].map(|tab| origin.tab(tab));
        let [known, told] = [old, new].map(|tab| tab.breaker().view(origin.now).status);
        let out = old.calls.iter().any(|call| call.told == Told::Loading && call.admitted.1);
        let out = out && old.admitted() > 0;
        let waits = new.breaker().refusal(false).is_some_and(|refusal| refusal.probe_in_flight);
        known == told && (waits || !out)
    }

    fn die(&mut self, tab: usize) {
        self.tabs[tab] = None;
        self.air.retain(|message| message.to != tab);
        self.lock = self.lock.filter(|(holder, ..)| *holder != tab);
    }

    fn hear(&mut self, model: &Tabs, to: usize, news: News) {
        let now = self.now;
        let (known, stood) = (self.tab(to).stamp(), self.tab(to).stood(now));
        let timed = stood.epoch() != self.tab(to).breaker().epoch();
        let mut success = false;
        let mut follows = (stood.status(), false);
        if let News::Circuit { stamp, until, .. } = news {
            success = until.is_none() && stamp > known;
            let open = until.map_or(Status::Closed, Status::Open);
            follows = match (stood.status(), until) {
                (Status::Open(ours), Some(theirs)) => (Status::Open(ours.max(theirs)), theirs > ours),
                (was, _) if stamp > known && open != was => (open, true),
                (was, _) => (was, false),
            };
        }
        let (status, turns) = follows;
        // One that is over when it is heard of is half-open at once, and that is all that is told of it.
        let over = turns && matches!(status, Status::Open(until) if until <= now);
        let status = if over { Status::HalfOpen } else { status };
        let untold = u64::from(over) + u64::from(over && stood.status() == status);
        let options = &model.calls[0][0].0;
        let hear = |tab: &mut Tab| {
            tab.engine.hear(KEY, news, options, now);
            true
        };
        self.input(model, to, hear, (success, untold));
        let newest = match news {
            News::Circuit { stamp, .. } => known.max(stamp),
            _ => known,
        };
        let tab = self.tab(to);
        let (stands, epoch) = (tab.breaker().status(), tab.breaker().epoch());
        let turned = u64::from(turns) + u64::from(over);
        // What time has done in this tab may be told only now.
        let stamped = tab.stamp() == newest || timed && tab.stamp() == newest.next(tab.engine.tab());
        let ok = stamped && stands == status && epoch == stood.epoch() + turned;
        self.note(ok, STAMPS);
    }

    /// Something happens in one tab. Whether an open circuit may end by it, and how many transitions come and go unseen.
    fn input(
        &mut self,
        model: &Tabs,
        tab: usize,
        act: impl FnOnce(&mut Tab) -> bool,
        (early, untold): (bool, u64),
    ) {
        let now = self.now;
        let breaker = self.tab(tab).breaker();
        let (mut status, epoch) = (breaker.status(), breaker.epoch() + untold);
        let effect = act(self.tab_mut(tab));
        self.note(effect, SETTLES);
        let mut events = 0;
        let mut batch = Vec::new();
        loop {
            self.tab_mut(tab).engine.take_commands(&mut batch);
            if batch.is_empty() {
                break;
            }
            for Command { slot, action } in std::mem::take(&mut batch) {
                match action {
                    Action::Circuit(view) => {
                        let changed = std::mem::discriminant(&status) != std::mem::discriminant(&view.status);
                        let longer =
                            matches!((status, view.status), (Status::Open(a), Status::Open(b)) if b > a);
                        self.note(changed || longer, EVENTS);
                        if let Status::Open(until) = status {
                            self.note(early || longer || until <= now, EARLY);
                        }
                        status = view.status;
                        events += 1;
                    }
                    Action::Share(news) => {
                        if self.tabs[1 - tab].is_some() {
                            self.air.push(Message { to: 1 - tab, news });
                        }
                    }
                    _ => self.command(model, tab, slot as usize, action, (epoch + events, status)),
                }
            }
        }
        let breaker = self.tab(tab).breaker();
        let ok = breaker.epoch() == epoch + events && breaker.status() == status;
        self.note(ok, EVENTS);
    }

    fn command(&mut self, model: &Tabs, tab: usize, index: usize, action: Action, circuit: (u64, Status)) {
        let (epoch, status) = circuit;
        let now = self.now;
        let mut call = self.tab(tab).calls[index];
        match action {
            Action::Lock { seq } => {
                self.note(status == Status::HalfOpen, PASSES);
                call = Seen { told: Told::Locking, seq, admitted: (epoch, true), asked: now, ..call };
            }
            Action::Unlock { seq } => self.lock = self.lock.filter(|held| *held != (tab, index, seq)),
            Action::State { view: View::Loading { probe }, .. } => {
                self.note(matches!(status, Status::Closed | Status::HalfOpen), PASSES);
                self.note(probe == (status == Status::HalfOpen), PASSES);
                call = Seen { told: Told::Loading, admitted: (epoch, probe), ..call };
            }
            Action::State { view: View::Queued { .. }, .. } => {
                call = Seen { told: Told::Queued, clicked: false, ..call }
            }
            Action::Send { seq } => {
                call.seq = seq;
                call.sent = call.admitted.1;
            }
            Action::Settle { .. } => {
                self.note(call.told != Told::Over, SETTLES);
                call = Seen { told: Told::Over, clicked: false, sent: false, ..call };
                self.tab_mut(tab).engine.remove(index as u32);
                if call.left > 0 {
                    call.left -= 1;
                    call.told = Told::Idle;
                    let slot = self.tab_mut(tab).engine.insert(model.setup(tab, index));
                    self.note(slot == index as u32, SETTLES);
                }
            }
            Action::Discard | Action::Failure { .. } | Action::Abort { .. } => {}
            _ => unreachable!("nobody is retried, no hook is asked and no body is read: {action:?}"),
        }
        self.tab_mut(tab).calls[index] = call;
    }

    /// What must be true after each step.
    fn look(&mut self, model: &Tabs) {
        let now = self.now;
        let out = |tab: &Tab| {
            let epoch = tab.breaker().epoch();
            let counts = |call: &&Seen| {
                call.told == Told::Loading && call.admitted == (epoch, true) && call.asked + LEASE > now
            };
            tab.calls.iter().filter(counts).count()
        };
        let probes: usize = self.live().map(|(_, tab)| out(tab)).sum();
        self.note(probes <= 1 || !model.locks, PROBES);
        let permits = self.live().all(|(_, tab)| {
            let mut breaker = tab.breaker().clone();
            if breaker.status() != Status::HalfOpen {
                return true;
            }
            let out = tab.admitted();
            if out == 0 && breaker.refusal(false).is_some() {
                // It waits for the probe of the other tab, but not for long.
                let Some(at) = breaker.next_timeout().filter(|at| *at <= now + LEASE) else { return false };
                breaker.advance(now.max(at), &mut steadfetch::core::rng::Rng::new(1));
            }
            let admits = |_: &i32| breaker.admit(model.breaker, LEASE, false, now).is_ok();
            (0..10).take_while(admits).count() + out == 1
        });
        self.note(permits, PERMITS);
        if let Some((tab, call, seq)) = self.lock {
            let holder = self.tab(tab).calls[call];
            self.note(holder.told == Told::Loading && holder.seq == seq, PERMITS);
        }
    }

    /// The next step where nothing is left to chance: locks are answered, attempts end as told for their tab, news is
    /// lost or heard, and time passes.
    fn goes_on(&mut self, model: &Tabs, answer: Option<bool>, air: Air) -> bool {
        let next = match (self.air.is_empty(), air) {
            (true, _) => None,
            (false, Air::Lost) => Some(Act::Lose(0)),
            (false, Air::Heard) => Some(Act::Deliver(0)),
        };
        let next = next.or_else(|| {
            self.live().find_map(|(tab, Tab { calls, .. })| {
                calls.iter().enumerate().find_map(|(call, seen)| match (seen.told, answer) {
                    (Told::Locking, _) => Some(Act::Locked(tab, call)),
                    (Told::Loading, Some(good)) => Some(Act::Answer(tab, call, good)),
                    _ => None,
                })
            })
        });
        let timeout = |(tab, Tab { engine, .. }): (usize, &Tab)| Some((engine.next_timeout()?, tab));
        let next = next.or_else(|| match self.live().filter_map(timeout).min() {
            Some((at, tab)) if at <= self.now => Some(Act::Wake(tab)),
            timeout => timeout.map(|(at, _)| Act::Pass(at)),
        });
        if let Some(act) = next {
            self.act(model, act);
        }
        next.is_some()
    }

    fn rests(&self, model: &Tabs, answer: bool, air: Air) -> Self {
        let mut origin = self.clone();
        let _ = (0..200).find(|_| !origin.goes_on(model, Some(answer), air));
        origin
    }

    fn settled(&self) -> bool {
        let rests = |(_, tab): (usize, &Tab)| {
            let idle = tab.calls.iter().filter(|call| call.told == Told::Idle).count() as u32;
            tab.calls.iter().all(|call| matches!(call.told, Told::Over | Told::Idle))
                && tab.engine.next_timeout().is_none()
                && tab.engine.counts() == Counts::default()
                && tab.entry().users == idle
        };
        self.broken.is_none() && self.lock.is_none() && self.live().all(rests)
    }

    /// A call comes that waits for the circuit; gives its index.
    fn fresh(&mut self, model: &Tabs, tab: usize) -> usize {
        let new = self.tab_mut(tab);
        let call = new.engine.insert(model.setup(tab, usize::MAX)) as usize;
        let seen = model.seen(0);
        match new.calls.get_mut(call) {
            Some(place) => *place = seen,
            None => new.calls.push(seen),
        }
        self.act(model, Act::Start(tab, call));
        call
    }

    fn closed(&self, tab: usize) -> bool {
        self.tab(tab).breaker().status() == Status::Closed
    }

    /// One call in that tab succeeds, and what it tells is heard.
    fn succeeds(&self, model: &Tabs, tab: usize) -> Option<Self> {
        let mut origin = self.clone();
        origin.fresh(model, tab);
        let origin = origin.rests(model, true, Air::Heard);
        (origin.settled() && origin.closed(tab)).then_some(origin)
    }

    /// From a rest in which nothing is in the air.
    fn recovers(&self, model: &Tabs) -> bool {
        self.live().all(|(tab, sender)| {
            let Some(after) = self.succeeds(model, tab) else { return false };
            let Some(other) = &self.tabs[1 - tab] else { return true };
            let follows = !self.closed(tab) && after.tab(tab).stamp() > other.stamp();
            let hears = sender.stamp() >= other.stamp();
            if follows || hears && !self.closed(tab) || self.closed(1 - tab) {
                return after.closed(1 - tab);
            }
            after.succeeds(model, 1 - tab).is_some_and(|origin| origin.closed(0) && origin.closed(1))
        })
    }

    /// The others die with all that they have, and what is under way here is never answered.
    fn alone(&self, model: &Tabs) -> bool {
        self.live().all(|(tab, _)| {
            [Air::Lost, Air::Heard].into_iter().all(|air| {
                let mut origin = self.clone();
                if air == Air::Lost {
                    origin.air.clear();
                }
                origin.die(1 - tab);
                let until = origin.now + BOUND;
                let call = origin.fresh(model, tab);
                // One that is closed lets it through, though slowly where others wait too.
                while origin.tab(tab).calls[call].told != Told::Loading && !origin.closed(tab) {
                    let goes_on = origin.goes_on(model, None, air);
                    if !goes_on || origin.now > until || origin.broken.is_some() {
                        return false;
                    }
                }
                origin.broken.is_none()
            })
        })
    }
}

impl Tabs {
    fn tab(&self, tab: usize, now: Instant) -> Tab {
        let mut engine = Engine::new(tab as u64 + 1, Page { online: true, visible: false });
        engine.resolve(KEY, Some(self.breaker), now);
        let mut calls = Vec::new();
        for (index, (_, starts)) in self.calls[tab].iter().enumerate() {
            engine.insert(self.setup(tab, index));
            calls.push(self.seen(starts - 1));
        }
        Tab { engine, calls }
    }

    fn setup(&self, tab: usize, index: usize) -> Setup {
        let of = self.calls[tab].get(index).map(|(policy, _)| Arc::clone(policy));
        let policy = of.unwrap_or_else(|| Arc::new(call(self.breaker, OnCircuitOpen::Wait)));
        let traits = Traits { listed: true, keyed: false, replayable: true };
        Setup { policy, circuit: Some(ID), traits, hooks: Hooks::default(), run: 1 }
    }

    fn seen(&self, left: u8) -> Seen {
        Seen {
            told: Told::Idle,
            left,
            seq: 0,
            admitted: (0, false),
            clicked: false,
            asked: Instant::default(),
            sent: false,
        }
    }

    fn known(&self, of: Origin) -> Known<Origin> {
        use std::fmt::Write as _;
        use std::hash::{DefaultHasher, Hasher as _};

        let from_now = |at: Instant| micros(at).saturating_sub(micros(of.now));
        let stamps =
            of.live().map(|(_, tab)| tab.stamp()).chain(of.air.iter().filter_map(|m| match m.news {
                News::Circuit { stamp, .. } => Some(stamp),
                _ => None,
            }));
        let least = stamps.map(|stamp| stamp.count).min().unwrap_or(0);
        let mut text = String::new();
        let mut all = String::new();
        for tab in &of.tabs {
            let Some(tab) = tab else {
                all.push_str("dead");
                continue;
            };
            let present = Present {
                now: of.now,
                epoch: tab.breaker().epoch(),
                longest_run: self.breaker.consecutive_failures.into(),
                slice: 0,
                without: &WITHOUT,
            };
            text.clear();
            let _ = write!(text, "{:?}", tab.engine);
            all.push_str(&form(&text, present));
            let stamp = tab.stamp();
            let _ = write!(all, "{} {}", stamp.count - least, stamp.tab);
            for call in &tab.calls {
                let lease = call.sent.then(|| from_now(call.asked + LEASE));
                let _ = write!(all, " {} {lease:?}", call.left);
            }
        }
        let mut air: Vec<_> = of
            .air
            .iter()
            .map(|Message { to, news }| match *news {
                News::Circuit { stamp, until, .. } => {
                    (*to, Some((stamp.count - least, stamp.tab)), until.map(from_now))
                }
                News::Probe(until) => (*to, None, Some(from_now(until))),
                _ => unreachable!("nobody is parked, and there is no budget"),
            })
            .collect();
        air.sort_unstable();
        let _ = write!(all, "{air:?}{:?}", of.lock.map(|(tab, call, _)| (tab, call)));
        let mut hasher = DefaultHasher::new();
        hasher.write(all.as_bytes());
        Known { form: hasher.finish(), broken: of.broken, of }
    }
}

impl Model for Tabs {
    type State = Known<Origin>;
    type Action = Act;

    fn init_states(&self) -> Vec<Self::State> {
        let now = Instant::from_ms(3_600_000.0);
        let tabs = [0, 1].map(|tab| (tab == 0 || !self.late).then(|| self.tab(tab, now)));
        vec![self.known(Origin { tabs, now, lock: None, air: Vec::new(), broken: None })]
    }

    fn actions(&self, Known { of, broken, .. }: &Self::State, actions: &mut Vec<Act>) {
        if broken.is_some() {
            return;
        }
        for index in 0..of.air.len() {
            actions.extend([Act::Deliver(index), Act::Lose(index)]);
        }
        // What is lost may as well be lost before the next is told.
        if of.air.len() > self.most {
            return;
        }
        let both = of.live().count() == 2;
        if self.late && !both {
            actions.push(Act::Come);
        }
        for (tab, Tab { calls, .. }) in of.live() {
            for (call, seen) in calls.iter().enumerate() {
                match seen.told {
                    Told::Idle => actions.push(Act::Start(tab, call)),
                    Told::Locking => actions.push(Act::Locked(tab, call)),
                    Told::Loading => {
                        actions.extend([true, false].map(|good| Act::Answer(tab, call, good)));
                    }
                    Told::Queued if self.clicks => actions.push(Act::RetryNow(tab, call)),
                    _ => {}
                }
                if !matches!(seen.told, Told::Idle | Told::Over) {
                    actions.push(Act::Cancel(tab, call));
                }
            }
            if both && self.deaths {
                actions.push(Act::Die(tab));
            }
        }
        let due = of.live().filter(|(_, tab)| tab.due(of.now));
        actions.extend(due.map(|(tab, _)| Act::Wake(tab)));
        // The browser answers who asks for a lock before anything else is due, or a lease may run out while it thinks, and
        // there were no end of transitions.
        let asks = |tab: &Tab| tab.calls.iter().any(|call| call.told == Told::Locking);
        if of.live().all(|(_, tab)| !tab.due(of.now) && !asks(tab)) {
            let times = |(_, tab): (usize, &Tab)| [tab.engine.next_timeout(), tab.breaker().next_timeout()];
            let next = of.live().flat_map(times).flatten().filter(|at| *at > of.now).min();
            actions.extend(next.map(Act::Pass));
        }
    }

    fn next_state(&self, last: &Self::State, act: Act) -> Option<Self::State> {
        let mut of = last.of.clone();
        of.act(self, act);
        Some(self.known(of))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        macro_rules! kept {
            ($($name:ident),*) => {
                [$(Property::<Self>::always($name, |_, state| state.broken != Some($name))),*]
            };
        }
        let mut all = Vec::from(kept![PROBES, PERMITS, PASSES, STAMPS, EARLY, EVENTS, TOLD]);
        all.push(Property::always(ALONE, |model: &Self, state: &Known<Origin>| state.of.alone(model)));
        all.push(Property::always(SETTLES, |model: &Self, state: &Known<Origin>| {
            state.broken != Some(SETTLES) && state.of.rests(model, true, Air::Lost).settled()
        }));
        all.push(Property::always(CLOSED, |model: &Self, state: &Known<Origin>| {
            [Air::Lost, Air::Heard].into_iter().all(|air| {
                let rest = state.of.rests(model, false, air);
                rest.settled() && rest.recovers(model)
            })
        }));
        all.push(Property::sometimes(
            "a probe is out, and the other tab waits for it",
            |_, state: &Known<Origin>| {
                let waits = |(_, tab): (usize, &Tab)| {
                    tab.admitted() == 0
                        && tab.breaker().refusal(false).is_some_and(|refusal| refusal.probe_in_flight)
                };
                state.of.live().any(|(_, tab)| tab.admitted() > 0) && state.of.live().any(waits)
            },
        ));
        all.push(Property::sometimes(
            "as much is in the air as may be",
            |model: &Self, state: &Known<Origin>| state.of.air.len() >= model.most,
        ));
        all
    }
}

fn call(breaker: policy::Breaker, on_circuit_open: OnCircuitOpen) -> Policy {
    Policy {
        retry: Retry { limit: 0, ..Retry::default() },
        timeout: None,
        breaker: Some(breaker),
        budget: None,
        on_circuit_open,
        tick: None,
        ..Policy::default()
    }
}

/// In each tab one call that the circuit rejects and one that waits for it.
fn model(failures: u32, starts: [[u8; 2]; 2]) -> Tabs {
    let breaker = policy::Breaker {
        consecutive_failures: failures,
        minimum_calls: u32::MAX,
        half_open_after: OPEN,
        max_open: OPEN,
        half_open_probes: 1,
        half_open_successes: 1,
        probe_lease: Some(LEASE),
        shared: true,
        ..policy::Breaker::default()
    };
    let policies = [OnCircuitOpen::Reject, OnCircuitOpen::Wait].map(|what| Arc::new(call(breaker, what)));
    let calls = starts.map(|starts| {
        let all = policies.iter().cloned().zip(starts);
        all.filter(|(_, starts)| *starts > 0).collect()
    });
    Tabs { breaker, calls, most: 2, locks: true, clicks: false, deaths: false, late: false }
}

#[test]
fn two_tabs_and_one_of_them_may_die() {
    exhaust("two tabs, deaths", Tabs { most: 3, deaths: true, ..model(1, [[1, 1], [0, 1]]) });
}

#[test]
fn two_tabs_that_may_open_it_both() {
    exhaust("two tabs, both open it", model(1, [[1, 0], [1, 1]]));
}

#[test]
fn two_tabs_and_one_of_them_comes_later() {
    exhaust("two tabs, one comes later", Tabs { late: true, ..model(1, [[1, 1], [0, 1]]) });
}

#[test]
fn two_tabs_with_clicks() {
    exhaust("two tabs, clicks", Tabs { clicks: true, ..model(1, [[1, 1], [0, 1]]) });
}

#[test]
fn two_tabs_without_locks() {
    exhaust("two tabs, no locks", Tabs { locks: false, deaths: true, ..model(1, [[1, 1], [0, 1]]) });
}

#[test]
fn two_tabs_whose_circuit_opens_after_two_failures() {
    exhaust("two tabs, two failures", model(2, [[2, 1], [1, 0]]));
}
