//! Two tabs with one outbox: two real cores, one store, one server that knows the key of an entry again, and all that
//! may come between. The lock may go from one tab to the other at any time, and a tab learns that it has lost it when it
//! looks into the store and not before. Clocks of two tabs have nothing to do with each other.

use std::collections::{BTreeMap, BTreeSet};

use stateright::{Model, Property};
use steadfetch::core::outbox::{Change, Command, Limits, Look, Outbox, Outcome, Stored, Turn, View};
use steadfetch::core::time::{Instant, Span};

use super::canonical::{Present, form};
use super::{Known, exhaust};

const LOST: &str = "no entry leaves the store before the server has it, but by its own end";
const ORDER: &str = "what the server does of a queue it does in its order";
const ALONE: &str = "a tab has one request of a queue out at a time";
const AGES: &str = "nothing expires in a tab that has its request out";
const ENDS: &str = "every entry comes to its end, and every tab to rest, once nothing fails any more";

/// Waits are shorter, ages are longer.
const BETWEEN: Span = Span::from_secs(1_800);
const AGE: Span = Span::from_secs(86_400);

/// Fields that decide nothing here: numbers that only grow, random bits, how long anything takes. Which wait ends first
/// is told apart from them.
const WITHOUT: &[&str] = &[
    "limits", "rng", "now", "steady", "bytes", "fresh", "waits", "ages", "tokens", "token", "rounds",
    "expires", "until", "names", "name",
];

/// What the store has of an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Record {
    id: u64,
    dead: bool,
}

/// What a tab does with the store.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Look(Turn),
    Looked(Turn, Look, Option<Record>),
    Write(Turn, Change, u64),
    Wrote(Turn),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Out,
    Done,
    Refused,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    id: u64,
    /// Who waits for its answer.
    of: Option<(usize, Turn)>,
    stage: Stage,
}

#[derive(Clone, Debug)]
struct Tab {
    outbox: Outbox,
    now: Instant,
    /// As it believes.
    sender: bool,
    ids: BTreeMap<u32, u64>,
    /// The last doing of each slot.
    last: BTreeMap<u32, Turn>,
    doings: Vec<Doing>,
}

/// How much may still go wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    crashes: u8,
    moves: u8,
    losses: u8,
    fails: u8,
    cancels: u8,
    refusals: u8,
    clicks: u8,
    ages: u8,
}

#[derive(Clone, Debug)]
struct World {
    tabs: [Option<Tab>; 2],
    store: Vec<Record>,
    accepted: u64,
    lock: Option<usize>,
    requests: Vec<Request>,
    /// What the server has done, in its order.
    effects: Vec<u64>,
    refused: BTreeSet<u64>,
    /// Taken back or expired.
    gone: BTreeSet<u64>,
    left: Left,
    broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Accept(usize),
    /// One step of what a tab does with the store.
    Do(usize, usize),
    Fail(usize, usize),
    /// The server gets a request.
    Arrive(usize),
    Refuse(usize),
    /// The answer comes.
    Answer(usize),
    /// The request is lost, or its answer.
    Lose(usize),
    /// The tab is given the lock.
    Lock(usize),
    /// It learns of that, and reads the store.
    Begin(usize),
    /// It hears what others have done.
    Hear(usize),
    Wake(usize),
    Cancel(usize, u32),
    Revive(usize, u32),
    Crash(usize),
    Reload(usize),
}

#[derive(Clone, Debug)]
struct Outboxes {
    /// The queue of each entry; ids count from one.
    entries: Vec<&'static str>,
    /// How many of them are stored at first.
    stored: u64,
    left: Left,
}

impl Outboxes {
    fn queue(&self, id: u64) -> &'static str {
        self.entries[id as usize - 1]
    }

    fn tab(&self, store: &[Record]) -> Tab {
        let max_age = if self.left.ages > 0 { AGE } else { Span::MAX };
        let limits = Limits { max_age, max_entries: 100, max_bytes: 100, stop_on_rejected: false };
        let mut tab = Tab {
            outbox: Outbox::new(limits, 1),
            now: Instant::default(),
            sender: false,
            ids: BTreeMap::new(),
            last: BTreeMap::new(),
            doings: Vec::new(),
        };
        for record in store {
            self.know(&mut tab, *record);
        }
        tab
    }

    /// What a tab does with a record that it has read.
    fn know(&self, tab: &mut Tab, Record { id, dead }: Record) {
        let known = tab.ids.iter().find(|(_, known)| **known == id).map(|(slot, _)| *slot);
        if let Some(slot) = known {
            if (tab.outbox.view(slot) == Some(View::Rejected)) != dead {
                tab.outbox.marked(slot, dead);
            }
        } else {
            let queue = self.queue(id);
            let stored = Stored { id, queue, bytes: 1, age: Span::ZERO, wait: Span::ZERO, rejected: dead };
            let slot = tab.outbox.add(stored);
            tab.ids.insert(slot, id);
        }
    }
}

impl Tab {
    fn writes(&self, id: u64) -> bool {
        self.doings.iter().any(|doing| match doing {
            Doing::Write(.., other) => *other == id,
            Doing::Wrote(turn) => self.ids.get(&turn.slot) == Some(&id),
            _ => false,
        })
    }

    /// What it knows and the store does not, or otherwise.
    fn differs(&self, store: &[Record]) -> bool {
        let knows = |record: &Record| {
            self.ids.iter().any(|(slot, id)| {
                let dead = self.outbox.view(*slot) == Some(View::Rejected);
                *id == record.id && (dead == record.dead || self.writes(*id))
            })
        };
        let extra =
            self.ids.values().any(|id| !self.writes(*id) && store.iter().all(|record| record.id != *id));
        extra || !store.iter().all(knows)
    }
}

impl World {
    fn live(&self) -> impl Iterator<Item = (usize, &Tab)> {
        self.tabs.iter().enumerate().filter_map(|(index, tab)| Some((index, tab.as_ref()?)))
    }

    fn note(&mut self, ok: bool, property: &'static str) {
        self.broken = self.broken.or((!ok).then_some(property));
    }

    /// The server need not do it any more.
    fn excused(&self, id: u64) -> bool {
        self.gone.contains(&id) || self.refused.contains(&id)
    }

    /// Tells one tab something, and carries out what follows.
    fn tell(&mut self, model: &Outboxes, index: usize, act: impl FnOnce(&mut Tab)) {
        let Some(tab) = &mut self.tabs[index] else { return };
        tab.outbox.advance(tab.now, tab.now);
        act(tab);
        let mut commands = Vec::new();
        tab.outbox.take_commands(&mut commands);
        for command in commands {
            let Some(tab) = &mut self.tabs[index] else { return };
            let id_of = |turn: Turn| tab.ids[&turn.slot];
            let out = |request: &Request| matches!(request.of, Some((of, _)) if of == index);
            match command {
                Command::Look(turn) => {
                    tab.last.insert(turn.slot, turn);
                    tab.doings.push(Doing::Look(turn));
                }
                Command::Send(turn) => {
                    let id = id_of(turn);
                    let same = |request: &&Request| model.queue(request.id) == model.queue(id);
                    let alone = self.requests.iter().filter(|request| out(request)).find(same).is_none();
                    self.requests.push(Request { id, of: Some((index, turn)), stage: Stage::Out });
                    self.note(alone, ALONE);
                }
                Command::Abort(turn) => {
                    for request in &mut self.requests {
                        request.of = request.of.filter(|of| *of != (index, turn));
                    }
                }
                Command::Write(turn, change) => {
                    let id = id_of(turn);
                    tab.last.insert(turn.slot, turn);
                    tab.doings.push(Doing::Write(turn, change, id));
                    let sent = self.requests.iter().any(|request| out(request) && request.id == id);
                    self.note(!(change == Change::Expire && sent), AGES);
                }
                Command::Over(slot, _) => drop(tab.ids.remove(&slot)),
                Command::Nudge(_) | Command::Note(..) | Command::Tell(..) | Command::Ask(_) => {}
            }
        }
    }

    /// One transaction of a tab, or what it tells.
    fn step(&mut self, model: &Outboxes, index: usize, doing: usize, works: bool) {
        let Some(tab) = &mut self.tabs[index] else { return };
        match tab.doings.remove(doing) {
            Doing::Look(turn) if !works => {
                self.tell(model, index, |tab| tab.outbox.looked(turn, Look::Failed));
            }
            Doing::Look(turn) => {
                // Over meanwhile: nobody wants to know.
                let Some(&id) = tab.ids.get(&turn.slot) else { return };
                let first = |record: &&Record| !record.dead && model.queue(record.id) == model.queue(id);
                let head = self.store.iter().find(first).copied();
                let look = match head {
                    _ if self.lock != Some(index) => Look::Barred,
                    Some(head) if head.id < id => Look::Another,
                    Some(head) if head.id == id => Look::Found,
                    _ => Look::Gone(Change::Deliver),
                };
                tab.doings.push(Doing::Looked(turn, look, head));
            }
            Doing::Looked(turn, look, head) => self.tell(model, index, |tab| {
                if look == Look::Barred && tab.sender {
                    tab.sender = false;
                    tab.outbox.set_sender(false, true);
                }
                if let (Look::Another, Some(head)) = (look, head) {
                    model.know(tab, head);
                }
                tab.outbox.looked(turn, look);
            }),
            Doing::Write(turn, ..) if !works => {
                self.tell(model, index, |tab| tab.outbox.wrote(turn, false));
            }
            Doing::Write(turn, change, id) => {
                tab.doings.push(Doing::Wrote(turn));
                match change {
                    Change::Deliver | Change::Expire | Change::Cancel => {
                        self.store.retain(|record| record.id != id);
                    }
                    Change::Reject | Change::Revive => {
                        for record in self.store.iter_mut().filter(|record| record.id == id) {
                            record.dead = change == Change::Reject;
                        }
                    }
                }
                if change == Change::Expire {
                    self.gone.insert(id);
                }
                let kept = self.effects.contains(&id)
                    || self.excused(id)
                    || self.store.iter().any(|record| record.id == id);
                self.note(kept, LOST);
            }
            Doing::Wrote(turn) => self.tell(model, index, |tab| tab.outbox.wrote(turn, true)),
        }
    }

    fn arrive(&mut self, model: &Outboxes, index: usize) {
        let Request { id, .. } = self.requests[index];
        // It knows the key again, and says the same.
        self.requests[index].stage = if self.refused.contains(&id) { Stage::Refused } else { Stage::Done };
        if self.effects.contains(&id) || self.refused.contains(&id) {
            return;
        }
        let in_order = (1..id).all(|other| {
            model.queue(other) != model.queue(id) || self.effects.contains(&other) || self.excused(other)
        });
        self.note(in_order || self.excused(id), ORDER);
        self.effects.push(id);
    }

    fn ends(&mut self, model: &Outboxes, index: usize, outcome: Option<Outcome>) {
        let Request { of, stage, .. } = self.requests.remove(index);
        let Some((tab, turn)) = of else { return };
        let outcome = outcome.unwrap_or(Outcome::Answer(if stage == Stage::Refused { 422 } else { 200 }));
        self.tell(model, tab, |tab| tab.outbox.ended(turn, outcome, Span::ZERO));
    }

    fn hear(&mut self, model: &Outboxes, index: usize) {
        let store = self.store.clone();
        self.tell(model, index, |tab| {
            for record in &store {
                model.know(tab, *record);
            }
            for (slot, id) in tab.ids.clone() {
                if !tab.writes(id) && store.iter().all(|record| record.id != id) {
                    tab.outbox.removed(slot, Change::Deliver);
                }
            }
        });
    }

    fn act(&mut self, model: &Outboxes, act: Act) {
        let left = &mut self.left;
        match act {
            Act::Accept(index) => {
                self.accepted += 1;
                let record = Record { id: self.accepted, dead: false };
                self.store.push(record);
                self.tell(model, index, |tab| model.know(tab, record));
            }
            Act::Do(tab, doing) => self.step(model, tab, doing, true),
            Act::Fail(tab, doing) => {
                left.fails -= 1;
                self.step(model, tab, doing, false);
            }
            Act::Arrive(index) => self.arrive(model, index),
            Act::Refuse(index) => {
                left.refusals -= 1;
                let request = &mut self.requests[index];
                request.stage = Stage::Refused;
                self.refused.insert(request.id);
            }
            Act::Answer(index) => self.ends(model, index, None),
            Act::Lose(index) => {
                left.losses -= 1;
                self.ends(model, index, Some(Outcome::Failed));
            }
            Act::Lock(tab) => {
                left.moves -= u8::from(self.lock.is_some());
                self.lock = Some(tab);
            }
            Act::Begin(index) => {
                self.hear(model, index);
                self.tell(model, index, |tab| {
                    tab.sender = true;
                    tab.outbox.set_sender(true, false);
                });
            }
            Act::Hear(index) => self.hear(model, index),
            Act::Wake(index) => self.tell(model, index, |tab| {
                tab.now = tab.now + tab.outbox.next_timeout().unwrap_or_default();
                tab.outbox.advance(tab.now, tab.now);
                tab.outbox.wake();
            }),
            Act::Cancel(index, slot) => {
                left.cancels -= 1;
                let mut taken = None;
                self.tell(model, index, |tab| {
                    let id = tab.ids[&slot];
                    taken = tab.outbox.cancel(slot).then_some(id);
                });
                self.gone.extend(taken);
            }
            Act::Revive(index, slot) => {
                left.clicks -= 1;
                self.tell(model, index, |tab| {
                    tab.outbox.retry_now(slot);
                });
            }
            Act::Crash(index) => {
                left.crashes -= 1;
                self.tabs[index] = None;
                self.lock = self.lock.filter(|holder| *holder != index);
                for request in &mut self.requests {
                    request.of = request.of.filter(|(of, _)| *of != index);
                }
            }
            Act::Reload(index) => self.tabs[index] = Some(model.tab(&self.store)),
        }
        // What nobody waits for and the server knows already does nothing more.
        let Self { requests, effects, refused, .. } = self;
        requests
            .retain(|Request { id, of, .. }| of.is_some() || !effects.contains(id) && !refused.contains(id));
    }

    /// What may go on by itself.
    fn next(&self, model: &Outboxes, into: &mut Vec<Act>) {
        for (index, Request { stage, .. }) in self.requests.iter().enumerate() {
            into.push(if *stage == Stage::Out { Act::Arrive(index) } else { Act::Answer(index) });
        }
        for (index, tab) in self.live() {
            into.extend((0..tab.doings.len()).map(|doing| Act::Do(index, doing)));
            if self.lock.is_none() {
                into.push(Act::Lock(index));
            }
            if self.lock == Some(index) && !tab.sender {
                into.push(Act::Begin(index));
            }
            if tab.outbox.next_timeout().is_some_and(|left| left < BETWEEN) {
                into.push(Act::Wake(index));
            }
            if tab.differs(&self.store) {
                into.push(Act::Hear(index));
            }
            if self.accepted < model.entries.len() as u64 {
                into.push(Act::Accept(index));
            }
        }
        for (index, tab) in self.tabs.iter().enumerate() {
            if tab.is_none() {
                into.push(Act::Reload(index));
            }
        }
    }

    /// Whether all ends when nothing fails any more.
    fn ends_well(&self, model: &Outboxes) -> bool {
        let mut world = self.clone();
        let mut acts = Vec::new();
        for _ in 0..300 {
            acts.clear();
            world.next(model, &mut acts);
            let Some(act) = acts.first() else { break };
            world.act(model, *act);
        }
        let rests = |(_, tab): (usize, &Tab)| {
            tab.outbox.len() as usize == world.store.len()
                && tab.outbox.is_quiet()
                && tab.outbox.next_timeout().is_none_or(|left| left > BETWEEN)
        };
        acts.is_empty()
            && world.broken.is_none()
            && world.store.iter().all(|record| record.dead && world.refused.contains(&record.id))
            && (1..=world.accepted).all(|id| world.effects.contains(&id) || world.excused(id))
            && world.live().all(rests)
    }
}

impl Outboxes {
    fn known(&self, of: World) -> Known<World> {
        use std::fmt::Write as _;
        use std::hash::{DefaultHasher, Hasher as _};

        let mut all = String::new();
        let present =
            Present { now: Instant::default(), epoch: 0, longest_run: 0, slice: 0, without: WITHOUT };
        for tab in &of.tabs {
            let Some(Tab { outbox, sender, ids, last, doings, .. }) = tab else {
                all.push_str("dead");
                continue;
            };
            all.push_str(&form(&format!("{outbox:?}"), present));
            let mut waits: Vec<_> = ids
                .keys()
                .filter_map(|slot| match outbox.view(*slot)? {
                    View::Waiting { until, .. } => Some((until, *slot)),
                    _ => None,
                })
                .collect();
            waits.sort_unstable();
            let order: Vec<u32> = waits.iter().map(|(_, slot)| *slot).collect();
            let _ = write!(all, "{sender}{ids:?}{order:?}");
            let present = |turn: &Turn| (turn.slot, last.get(&turn.slot) == Some(turn));
            for doing in doings {
                let _ = match doing {
                    Doing::Look(turn) => write!(all, "look{:?}", present(turn)),
                    Doing::Looked(turn, look, head) => {
                        write!(all, "looked{:?}{look:?}{head:?}", present(turn))
                    }
                    Doing::Write(turn, change, id) => write!(all, "write{:?}{change:?}{id}", present(turn)),
                    Doing::Wrote(turn) => write!(all, "wrote{:?}", present(turn)),
                };
            }
        }
        let mut requests: Vec<_> = of
            .requests
            .iter()
            .map(|Request { id, of, stage }| (*id, of.map(|(tab, turn)| (tab, turn.slot)), *stage))
            .collect();
        requests.sort_unstable();
        let World { store, accepted, lock, effects, refused, gone, left, .. } = &of;
        let _ = write!(all, "{requests:?}{store:?}{accepted}{lock:?}{effects:?}{refused:?}{gone:?}{left:?}");
        let mut hasher = DefaultHasher::new();
        hasher.write(all.as_bytes());
        Known { form: hasher.finish(), broken: of.broken, of }
    }
}

impl Model for Outboxes {
    type State = Known<World>;
    type Action = Act;

    fn init_states(&self) -> Vec<Self::State> {
        let store: Vec<Record> = (1..=self.stored).map(|id| Record { id, dead: false }).collect();
        let tabs = [0, 1].map(|_| Some(self.tab(&store)));
        vec![self.known(World {
            tabs,
            store,
            accepted: self.stored,
            lock: None,
            requests: Vec::new(),
            effects: Vec::new(),
            refused: BTreeSet::new(),
            gone: BTreeSet::new(),
            left: self.left,
            broken: None,
        })]
    }

    fn actions(&self, Known { of, broken, .. }: &Self::State, actions: &mut Vec<Act>) {
        if broken.is_some() {
            return;
        }
        of.next(self, actions);
        let left = of.left;
        for (index, Request { id, of: whose, stage }) in of.requests.iter().enumerate() {
            if left.losses > 0 && whose.is_some() {
                actions.push(Act::Lose(index));
            }
            if left.refusals > 0 && *stage == Stage::Out && !of.effects.contains(id) {
                actions.push(Act::Refuse(index));
            }
        }
        for (index, tab) in of.live() {
            for (at, doing) in tab.doings.iter().enumerate() {
                if left.fails > 0 && matches!(doing, Doing::Look(_) | Doing::Write(..)) {
                    actions.push(Act::Fail(index, at));
                }
            }
            for slot in tab.ids.keys() {
                if left.cancels > 0 {
                    actions.push(Act::Cancel(index, *slot));
                }
                if left.clicks > 0 && tab.outbox.view(*slot) == Some(View::Rejected) {
                    actions.push(Act::Revive(index, *slot));
                }
            }
            if left.moves > 0 && of.lock.is_some_and(|holder| holder != index) {
                actions.push(Act::Lock(index));
            }
            if left.crashes > 0 {
                actions.push(Act::Crash(index));
            }
            if left.ages > 0 && tab.outbox.next_timeout().is_some_and(|left| left > BETWEEN) {
                actions.push(Act::Wake(index));
            }
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
        let mut all = Vec::from(kept![LOST, ORDER, ALONE, AGES]);
        all.push(Property::always(ENDS, |model: &Self, state: &Known<World>| state.of.ends_well(model)));
        all.push(Property::sometimes("two tabs have a request out", |_, state: &Known<World>| {
            let of = |tab| state.of.requests.iter().any(|request| request.of.is_some_and(|of| of.0 == tab));
            of(0) && of(1)
        }));
        all
    }
}

const CALM: Left =
    Left { crashes: 0, moves: 1, losses: 0, fails: 0, cancels: 0, refusals: 0, clicks: 0, ages: 0 };

#[test]
fn two_tabs_of_which_one_crashes_while_the_lock_moves() {
    let left = Left { crashes: 1, losses: 1, ..CALM };
    exhaust("outbox, crashes", Outboxes { entries: vec!["a", "a"], stored: 2, left });
}

#[test]
fn two_tabs_and_three_entries() {
    exhaust("outbox, three entries", Outboxes { entries: vec!["a", "a", "a"], stored: 3, left: CALM });
}

#[test]
fn two_tabs_that_both_store_into_one_queue() {
    let left = Left { losses: 1, ..CALM };
    exhaust("outbox, entries come", Outboxes { entries: vec!["a", "a"], stored: 0, left });
}

#[test]
fn two_tabs_and_two_queues() {
    let left = Left { losses: 1, ..CALM };
    exhaust("outbox, two queues", Outboxes { entries: vec!["a", "b"], stored: 2, left });
}

#[test]
fn two_tabs_whose_store_fails() {
    let left = Left { fails: 2, ..CALM };
    exhaust("outbox, the store fails", Outboxes { entries: vec!["a", "a"], stored: 2, left });
}

#[test]
fn two_tabs_and_an_entry_that_is_taken_back() {
    let left = Left { cancels: 1, fails: 1, ..CALM };
    exhaust("outbox, cancelled", Outboxes { entries: vec!["a", "a"], stored: 2, left });
}

#[test]
fn two_tabs_and_an_entry_that_is_refused_and_taken_up_again() {
    let left = Left { refusals: 1, clicks: 1, ..CALM };
    exhaust("outbox, refused", Outboxes { entries: vec!["a", "a"], stored: 2, left });
}

#[test]
fn two_tabs_and_entries_that_expire() {
    let left = Left { ages: 1, losses: 1, ..CALM };
    exhaust("outbox, expired", Outboxes { entries: vec!["a", "a"], stored: 2, left });
}
