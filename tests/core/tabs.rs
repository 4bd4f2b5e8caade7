//! The tabs of an origin, each with the real engine, which tell each other of one key and have one lock.

use crate::sim::{Plan, Sim, Step, ok, plan, status};
use steadfetch::core::breaker::{Reason, Status};
use steadfetch::core::call::{End, Input, Source, View};
use steadfetch::core::policy::{self, Budget, OnCircuitOpen, Policy};
use steadfetch::core::shared::{Lock, News, Stamp};
use steadfetch::core::time::{Instant, Span};

const KEY: &str = "a";

fn breaker() -> policy::Breaker {
    policy::Breaker {
        consecutive_failures: 3,
        half_open_after: Span::from_ms(1_000.0),
        max_open: Span::from_ms(8_000.0),
        shared: true,
        ..policy::Breaker::default()
    }
}

fn options() -> Policy {
    Policy { breaker: Some(breaker()), ..Policy::default() }
}

fn one(step: Step) -> Plan {
    plan(&[step]).with(|p| p.retry.limit = 0).behind(KEY, breaker())
}

fn patient(step: Step) -> Plan {
    one(step).with(|p| p.on_circuit_open = OnCircuitOpen::Wait)
}

struct Origin {
    tabs: Vec<Sim>,
    now: f64,
}

impl Origin {
    fn new(tabs: u64) -> Self {
        Self { tabs: (1..=tabs).map(Sim::new).collect(), now: 0.0 }
    }

    /// What has been told comes to the others.
    fn deliver(&mut self) {
        while let Some(from) = self.tabs.iter().position(|tab| !tab.news.is_empty()) {
            for news in std::mem::take(&mut self.tabs[from].news) {
                for to in (0..self.tabs.len()).filter(|&to| to != from) {
                    self.hear(to, news);
                }
            }
        }
    }

    fn hear(&mut self, tab: usize, news: News) {
        self.locked_out(tab, |sim| sim.by_hand(|engine, now| engine.hear(KEY, news, &options(), now)));
    }

    /// The others may have the lock.
    fn locked_out<T>(&mut self, tab: usize, act: impl FnOnce(&mut Sim) -> T) -> T {
        let has = |sim: &Sim| sim.lock.is_some_and(|held| held != 0);
        let taken = self.tabs.iter().enumerate().any(|(other, sim)| other != tab && has(sim));
        let sim = &mut self.tabs[tab];
        sim.now = sim.now.max(self.now);
        if taken {
            sim.lock = sim.lock.or(Some(0));
        }
        let result = act(sim);
        sim.lock = sim.lock.filter(|&held| held != 0);
        result
    }

    /// Something happens in one tab, and the others hear of it.
    fn act<T>(&mut self, tab: usize, act: impl FnOnce(&mut Sim) -> T) -> T {
        let result = self.locked_out(tab, act);
        self.deliver();
        result
    }

    fn start(&mut self, tab: usize, plan: Plan) -> (usize, u32) {
        self.act(tab, |sim| sim.start(plan))
    }

    /// A millisecond after the other, in each tab in turn.
    fn run_until(&mut self, until: f64) {
        while self.now < until {
            self.now = (self.now + 1.0).min(until);
            for tab in 0..self.tabs.len() {
                let now = self.now;
                self.act(tab, |sim| sim.run_until(now));
            }
        }
    }

    fn status(&self, tab: usize) -> Option<Status> {
        self.tabs[tab].circuit(KEY).map(|view| view.status)
    }

    fn tripped(tabs: u64) -> Self {
        let mut origin = Self::new(tabs);
        for _ in 0..3 {
            origin.start(0, one(status(500)));
            let now = origin.now;
            origin.act(0, |sim| sim.run_until(now));
        }
        origin
    }
}

fn sent(origin: &Origin) -> Vec<f64> {
    let mut all: Vec<f64> =
        origin.tabs.iter().flat_map(|tab| tab.traces.iter().flat_map(|trace| trace.sent.clone())).collect();
    all.sort_by(f64::total_cmp);
    all
}

#[test]
fn a_circuit_that_opens_in_one_tab_is_open_in_all_for_the_same_time() {
    let origin = Origin::tripped(3);
    for tab in 0..3 {
        assert_eq!(origin.status(tab), Some(Status::Open(Instant::from_ms(1_000.0))));
        assert_eq!(origin.tabs[tab].circuit(KEY).unwrap().reason, Some(Reason::Consecutive));
        assert_eq!(origin.tabs[tab].circuits, [(0.0, Status::Open(Instant::from_ms(1_000.0)))]);
    }
}

#[test]
fn ten_tabs_with_traffic_send_one_probe_and_its_success_closes_it_in_all() {
    let mut origin = Origin::tripped(10);
    for tab in 0..10 {
        for _ in 0..5 {
            origin.start(tab, patient(Step::Status(200, 100.0)));
        }
    }
    origin.run_until(1_099.0);
    assert_eq!(sent(&origin)[3..], [1_000.0]);
    for tab in 0..10 {
        assert_eq!(origin.status(tab), Some(Status::HalfOpen));
        let (call, _) = origin.start(tab, one(ok()));
        let end = origin.tabs[tab].traces[call].end;
        assert!(matches!(end, Some((1_099.0, End::CircuitOpen(refusal, _), _)) if refusal.probe_in_flight));
    }
    origin.run_until(1_100.0);
    for tab in 0..10 {
        assert_eq!(origin.status(tab), Some(Status::Closed));
    }
    origin.run_until(20_000.0);
    assert_eq!(sent(&origin).len(), 3 + 50);
}

#[test]
fn a_probe_that_fails_opens_it_again_in_all_and_the_time_grows() {
    let mut origin = Origin::tripped(3);
    for round in 0..3 {
        let until = match origin.status(1) {
            Some(Status::Open(until)) => (until - Instant::default()).as_ms(),
            status => panic!("{status:?}"),
        };
        origin.run_until(until);
        origin.start(round, one(status(500)));
        origin.run_until(until + 1.0);
        let statuses: Vec<_> = (0..3).map(|tab| origin.status(tab)).collect();
        assert!(matches!(statuses[0], Some(Status::Open(_))), "{statuses:?}");
        assert!(statuses.iter().all(|status| *status == statuses[0]), "{statuses:?}");
    }
    let Some(Status::Open(until)) = origin.status(0) else { panic!() };
    assert!(until - Instant::from_ms(origin.now) >= Span::from_ms(3_990.0));
}

#[test]
fn a_tab_that_dies_with_its_probe_blocks_nobody() {
    let mut origin = Origin::tripped(2);
    origin.run_until(1_000.0);
    origin.start(0, one(Step::Stall));
    assert_eq!(sent(&origin).len(), 4);
    origin.start(1, patient(ok()));
    origin.run_until(1_500.0);
    // Its lock goes with it, and no news comes.
    origin.tabs.remove(0);
    origin.run_until(3_001.0);
    assert_eq!(origin.tabs[0].traces[0].sent.len(), 1);
    assert_eq!(origin.status(0), Some(Status::Closed));
}

#[test]
fn news_that_is_lost_or_comes_late_leaves_no_circuit_stuck() {
    let mut origin = Origin::tripped(2);
    let old = News::Circuit {
        stamp: Stamp { count: 1, tab: 7 },
        until: Some(Instant::from_ms(60_000.0)),
        doublings: 3,
        reason: None,
    };
    origin.run_until(1_000.0);
    origin.start(0, one(ok()));
    origin.run_until(1_010.0);
    assert_eq!((origin.status(0), origin.status(1)), (Some(Status::Closed), Some(Status::Closed)));
    origin.hear(1, old);
    assert_eq!(origin.status(1), Some(Status::Closed), "an old transition changes nothing");

    // All that the other tells is lost: the tab goes on by itself.
    let mut origin = Origin::tripped(2);
    origin.tabs.remove(0);
    origin.start(0, patient(ok()));
    origin.run_until(1_001.0);
    assert_eq!(sent(&origin), [1_000.0]);
}

#[test]
fn two_tabs_that_open_it_at_once_keep_the_longer_time_both() {
    let mut origin = Origin::tripped(1);
    let later = |count, tab, ms| News::Circuit {
        stamp: Stamp { count, tab },
        until: Some(Instant::from_ms(ms)),
        doublings: 0,
        reason: Some(Reason::RetryAfter),
    };
    origin.hear(0, later(1, 0, 900.0));
    origin.hear(0, later(9, 0, 500.0));
    assert_eq!(origin.status(0), Some(Status::Open(Instant::from_ms(1_000.0))), "never sooner");
    origin.hear(0, later(2, 0, 5_000.0));
    assert_eq!(origin.status(0), Some(Status::Open(Instant::from_ms(5_000.0))));
}

#[test]
fn what_is_held_by_hand_stays_here_and_stays_so() {
    let mut origin = Origin::new(2);
    let hold = origin.act(0, |sim| {
        let id = sim.engine.resolve(KEY, Some(breaker()), Instant::default());
        sim.by_hand(|engine, now| engine.isolate(id, now));
        id
    });
    origin.start(1, one(ok()));
    assert_eq!(origin.status(1), Some(Status::Closed));
    for _ in 0..3 {
        origin.start(1, one(status(500)));
        origin.act(1, |sim| sim.run_until(0.0));
    }
    assert!(matches!(origin.status(1), Some(Status::Open(_))));
    assert_eq!(origin.status(0), Some(Status::Isolated));
    origin.act(0, |sim| sim.by_hand(|engine, now| engine.let_go(hold, now)));
    assert!(matches!(origin.status(1), Some(Status::Open(_))), "to let go here closes nothing there");
}

#[test]
fn a_retry_after_holds_the_calls_of_all_tabs_back() {
    let mut origin = Origin::new(2);
    origin.start(0, one(Step::RetryAfter(429, 2_000.0)));
    origin.act(0, |sim| sim.run_until(0.0));
    let (call, _) = origin.start(1, one(ok()));
    let states = &origin.tabs[1].traces[call].states;
    assert!(matches!(
        states[..],
        [(0.0, 0, View::Waiting { source: Source::RetryAfter, parked: Some(429), .. })]
    ));
    origin.run_until(2_000.0);
    assert_eq!(origin.tabs[1].traces[call].sent, [2_000.0]);
}

#[test]
fn what_one_tab_spends_of_the_budget_is_spent_in_all() {
    let mut origin = Origin::new(2);
    let budgeted = |script: &[Step]| {
        let mut plan = plan(script)
            .behind(KEY, policy::Breaker { consecutive_failures: 0, minimum_calls: 999, ..breaker() });
        plan.policy.budget = Some(Budget::default());
        plan
    };
    let (call, _) = origin.start(0, budgeted(&[status(503)]));
    origin.run_until(8_000.0);
    assert_eq!(origin.tabs[0].traces[call].sent.len(), 5);
    let (call, _) = origin.start(1, budgeted(&[status(503)]));
    origin.run_until(8_500.0);
    assert_eq!(origin.tabs[1].traces[call].sent.len(), 1);
}

#[test]
fn a_tab_that_comes_later_is_told_everything() {
    let mut origin = Origin::tripped(1);
    origin.start(0, one(Step::RetryAfter(503, 100.0)));
    origin.tabs.push(Sim::new(9));
    origin.act(0, |sim| sim.by_hand(|engine, now| engine.tell_all(now)));
    assert_eq!(origin.status(1), origin.status(0));
}

#[test]
fn a_tab_that_comes_later_has_no_more_budget_than_the_others() {
    let budgeted = |script: &[Step]| {
        let plan = plan(script)
            .behind(KEY, policy::Breaker { consecutive_failures: 0, minimum_calls: 999, ..breaker() });
        plan.with(|p| p.budget = Some(Budget::default()))
    };
    let mut origin = Origin::new(1);
    origin.start(0, budgeted(&[status(503)]));
    origin.run_until(8_000.0);
    let new = joined(&mut origin);
    let (call, _) = origin.start(new, budgeted(&[status(503)]));
    origin.run_until(8_500.0);
    assert_eq!(origin.tabs[new].traces[call].sent.len(), 1);
}

#[test]
fn news_that_come_twice_change_nothing() {
    let mut origin = Origin::new(1);
    origin.hear(0, circuit(1, Some(1_000.0)));
    origin.run_until(1_000.0);
    origin.start(0, one(Step::Status(200, 100.0)));
    origin.run_until(1_050.0);
    origin.hear(0, circuit(1, Some(1_000.0)));
    origin.run_until(1_100.0);
    assert_eq!(origin.status(0), Some(Status::Closed), "the probe still counts");
}

#[test]
fn of_what_tabs_are_told_to_wait_the_longest_holds() {
    let mut origin = Origin::new(1);
    let mut held = None;
    for (until, expected) in [(5_000.0, 5_000.0), (3_000.0, 5_000.0), (8_000.0, 8_000.0)] {
        origin.hear(0, News::Parked { until: Instant::from_ms(until), status: 429 });
        let (call, slot) = origin.start(0, one(ok()));
        held = origin.tabs[0].traces[call].states.last().map(|(_, _, view)| *view);
        assert!(matches!(held, Some(View::Waiting { until, .. }) if until == Instant::from_ms(expected)));
        origin.act(0, |sim| sim.input(slot, Input::Cancel));
    }
    assert!(held.is_some());
}

#[test]
fn a_tab_that_comes_is_told_what_is_so_and_no_more() {
    let tells = |sim: &mut Sim, at: f64| {
        sim.run_until(at);
        sim.news.clear();
        sim.by_hand(|engine, now| engine.tell_all(now));
        sim.run_until(at + 1_000.0);
        std::mem::take(&mut sim.news)
    };
    let parked = News::Parked { until: Instant::from_ms(5_000.0), status: 429 };
    let mut sim = Sim::new(1);
    sim.start(one(Step::RetryAfter(429, 5_000.0)));
    for (at, told) in [(0.0, vec![parked]), (3_998.0, vec![parked]), (5_000.0, vec![])] {
        assert_eq!(tells(&mut sim, at), told, "at {at}");
    }

    // Of a probe, which has the lock: to ask for that again soon.
    let mut origin = Origin::tripped(1);
    origin.run_until(1_000.0);
    origin.start(0, one(Step::Stall));
    let told = tells(&mut origin.tabs[0], 2_000.0);
    assert!(told.contains(&News::Probe(Instant::from_ms(3_000.0))), "{told:?}");
}

#[test]
fn why_a_circuit_has_opened_is_told_too() {
    let slow = policy::Breaker {
        consecutive_failures: 0,
        minimum_calls: 1,
        slow_call_duration: Some(Span::from_ms(10.0)),
        slow_call_rate: 0.5,
        ..breaker()
    };
    let mut origin = Origin::new(2);
    origin.start(0, one(Step::Status(200, 20.0)).behind(KEY, slow));
    origin.run_until(20.0);
    for tab in &origin.tabs {
        assert_eq!(tab.circuit(KEY).unwrap().reason, Some(Reason::SlowRate));
    }
}

#[test]
fn a_call_with_a_longer_wait_of_its_own_is_not_told_of_what_means_the_same_to_it() {
    let mut origin = Origin::new(1);
    let own = |p: &mut Policy| {
        p.retry.delay = Span::from_ms(5_000.0);
        p.on_circuit_open = OnCircuitOpen::Wait;
    };
    let (call, _) = origin.start(0, plan(&[Step::Status(500, 10.0), ok()]).behind(KEY, breaker()).with(own));
    origin.hear(0, circuit(1, Some(8_000.0)));
    origin.run_until(1_000.0);
    let mut click = one(status(500));
    click.run = 2;
    origin.start(0, click);
    origin.run_until(1_001.0);
    origin.hear(0, circuit(9, Some(4_000.0)));
    let told = origin.tabs[0].traces[call].states.iter().filter_map(|(_, _, view)| match view {
        View::Queued { refusal, .. } => refusal.retry_at,
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [8_000.0, 5_010.0].map(Instant::from_ms));
}

/// A tab is opened and says so.
fn joined(origin: &mut Origin) -> usize {
    origin.tabs.push(Sim::new(9));
    let new = origin.tabs.len() - 1;
    for tab in 0..new {
        origin.act(tab, |sim| sim.by_hand(|engine, now| engine.tell_all(now)));
    }
    new
}

#[test]
fn a_tab_that_is_opened_while_a_probe_is_out_waits_for_it_as_the_others_do() {
    for (locks, tabs) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
        let mut origin = Origin::tripped(tabs);
        origin.run_until(1_000.0);
        origin.tabs[0].slow_lock = !locks;
        let (_, slot) = origin.start(0, one(Step::Status(200, 3_000.0)));
        if let Some(seq) = origin.tabs[0].asked_lock {
            origin.act(0, |sim| sim.input(slot, Input::Locked { seq, lock: Lock::Missing }));
        }
        origin.run_until(2_500.0);
        let new = joined(&mut origin);
        assert_eq!(origin.tabs[new].circuits, [(2_500.0, Status::HalfOpen)]);
        // As long as it is out, be there locks or not.
        for until in [2_500.0, 3_900.0] {
            origin.run_until(until);
            let (call, _) = origin.start(new, one(ok()));
            let end = origin.tabs[new].traces[call].end;
            assert!(matches!(end, Some((_, End::CircuitOpen(refusal, _), _)) if refusal.probe_in_flight));
        }
        origin.run_until(4_001.0);
        assert_eq!(origin.status(new), Some(Status::Closed), "{locks}");
    }
}

#[test]
fn a_tab_that_is_opened_while_a_circuit_is_half_open_may_send_the_probe() {
    let mut origin = Origin::tripped(1);
    origin.run_until(1_000.0);
    origin.tabs[0].by_hand(|engine, _| engine.set_observed(true));
    let new = joined(&mut origin);
    assert_eq!(origin.status(new), Some(Status::HalfOpen));
    let (call, _) = origin.start(new, one(ok()));
    assert_eq!(origin.tabs[new].traces[call].sent, [1_000.0]);
    origin.run_until(1_001.0);
    assert_eq!(origin.status(0), Some(Status::Closed));
}

#[test]
fn however_many_tabs_come_they_are_answered_once_a_second_and_the_last_of_them_too() {
    let mut origin = Origin::tripped(1);
    let sim = &mut origin.tabs[0];
    let mut told = Vec::new();
    for _ in 0..1_000 {
        sim.by_hand(|engine, now| engine.tell_all(now));
    }
    told.push(std::mem::take(&mut sim.news).len());
    sim.run_until(500.0);
    sim.by_hand(|engine, now| engine.tell_all(now));
    sim.run_until(999.0);
    told.push(std::mem::take(&mut sim.news).len());
    sim.run_until(1_000.0);
    told.push(std::mem::take(&mut sim.news).len());
    sim.run_until(5_000.0);
    told.push(sim.news.len());
    assert_eq!(told, [1, 0, 1, 0]);
}

#[test]
fn who_answers_late_is_silent_about_what_another_has_told_meanwhile() {
    let mut origin = Origin::tripped(2);
    let known = News::Circuit {
        stamp: Stamp { count: 1, tab: origin.tabs[0].engine.tab() },
        until: Some(Instant::from_ms(1_000.0)),
        doublings: 0,
        reason: None,
    };
    let sim = &mut origin.tabs[1];
    for at in [0.0, 100.0] {
        sim.now = at;
        sim.by_hand(|engine, now| engine.tell_all(now));
        assert_eq!(std::mem::take(&mut sim.news).len(), usize::from(at == 0.0));
    }
    origin.now = 500.0;
    origin.hear(1, known);
    origin.tabs[1].run_until(1_000.0);
    assert_eq!(origin.tabs[1].news, []);
    // It is silent only about what came after the question.
    origin.tabs[1].run_until(3_000.0);
    origin.tabs[1].by_hand(|engine, now| engine.tell_all(now));
    assert_eq!(origin.tabs[1].news.len(), 1);
}

#[test]
fn a_probe_that_is_cancelled_while_it_waits_for_the_lock_is_never_sent() {
    let mut origin = Origin::tripped(1);
    origin.run_until(1_000.0);
    let sim = &mut origin.tabs[0];
    sim.slow_lock = true;
    let (call, slot) = sim.start(one(ok()));
    assert_eq!(sim.traces[call].states, [], "nothing is told before it is known");
    let seq = sim.asked_lock.unwrap();
    sim.input(slot, Input::Cancel);
    assert!(matches!(sim.traces[call].end, Some((1_000.0, End::Cancelled, _))));
    assert!(!sim.engine.handle(slot, Input::Locked { seq, lock: Lock::Granted }, Instant::from_ms(1_000.0)));
    sim.slow_lock = false;
    let (next, _) = sim.start(one(ok()));
    sim.run_until(1_001.0);
    assert_eq!(sim.traces[next].sent, [1_000.0], "its permit is back");
}

#[test]
fn a_lock_that_is_never_answered_is_none_after_a_moment() {
    let mut origin = Origin::tripped(2);
    origin.run_until(1_000.0);
    origin.tabs[0].slow_lock = true;
    let (call, slot) = origin.start(0, one(Step::Status(200, 100.0)));
    let seq = origin.tabs[0].asked_lock.unwrap();
    origin.run_until(3_999.0);
    assert_eq!(origin.tabs[0].traces[call].sent, []);
    origin.run_until(4_000.0);
    assert_eq!(origin.tabs[0].traces[call].sent, [4_000.0]);
    // The others wait for its lease.
    let (late, _) = origin.start(1, one(ok()));
    assert_eq!(origin.tabs[1].traces[late].sent, []);
    assert!(!origin.act(0, |sim| sim.input(slot, Input::Locked { seq, lock: Lock::Granted })));
    origin.run_until(4_100.0);
    assert_eq!((origin.status(0), origin.status(1)), (Some(Status::Closed), Some(Status::Closed)));
}

#[test]
fn without_locks_the_others_wait_for_the_lease_of_the_probe() {
    let mut origin = Origin::tripped(2);
    origin.run_until(1_000.0);
    origin.tabs[0].slow_lock = true;
    let (_, slot) = origin.start(0, one(Step::Stall));
    let seq = origin.tabs[0].asked_lock.unwrap();
    origin.act(0, |sim| sim.input(slot, Input::Locked { seq, lock: Lock::Missing }));
    origin.tabs[0].lock = None;
    origin.start(1, patient(ok()));
    origin.run_until(30_999.0);
    assert_eq!(origin.tabs[1].traces[0].sent, []);
    // Given up, it has failed: the circuit opens once more before the other may send one.
    origin.run_until(31_001.0);
    assert!(matches!(origin.status(1), Some(Status::Open(_))));
    origin.run_until(34_000.0);
    assert_eq!(origin.tabs[1].traces[0].sent.len(), 1);
}

#[test]
fn a_probe_that_is_given_up_gives_its_lock_back() {
    let mut origin = Origin::tripped(2);
    origin.run_until(1_000.0);
    // It never ends, and its lease does.
    origin.start(0, one(Step::Stall));
    assert!(origin.tabs[0].lock.is_some());
    origin.start(1, patient(ok()));
    origin.run_until(31_001.0);
    assert_eq!(origin.tabs[0].lock, None);
    origin.run_until(40_000.0);
    assert_eq!(origin.tabs[1].traces[0].sent.len(), 1);
    assert_eq!(origin.status(0), Some(Status::Closed));
}

#[test]
fn the_answer_to_a_request_for_the_lock_is_looked_at_anew_when_it_comes_late() {
    for lock in [Lock::Granted, Lock::Taken] {
        let mut origin = Origin::tripped(2);
        origin.run_until(1_000.0);
        origin.tabs[1].slow_lock = true;
        let (call, slot) = origin.start(1, one(ok()));
        let seq = origin.tabs[1].asked_lock.unwrap();
        // Meanwhile a probe of the other tab fails.
        origin.start(0, one(status(500)));
        origin.run_until(1_001.0);
        assert!(matches!(origin.status(1), Some(Status::Open(_))));
        origin.act(1, |sim| sim.input(slot, Input::Locked { seq, lock }));
        let trace = &origin.tabs[1].traces[call];
        assert_eq!(trace.sent, []);
        assert!(
            matches!(trace.end, Some((_, End::CircuitOpen(refusal, _), _)) if refusal.retry_at.is_some())
        );
    }
}

#[test]
fn what_a_person_resets_is_reset_in_all_tabs() {
    let mut origin = Origin::new(2);
    origin.start(0, one(Step::RetryAfter(429, 50_000.0)));
    origin.act(0, |sim| sim.run_until(0.0));
    origin.act(1, |sim| {
        sim.by_hand(|engine, now| {
            let id = engine.find_circuit(KEY).unwrap();
            engine.reset(id, now);
        });
    });
    for tab in 0..2 {
        let (call, _) = origin.start(tab, one(ok()));
        assert_eq!(origin.tabs[tab].traces[call].sent, [0.0], "{tab}");
    }
}

fn circuit(count: u64, until: Option<f64>) -> News {
    let stamp = Stamp { count, tab: 0 };
    News::Circuit { stamp, until: until.map(Instant::from_ms), doublings: 0, reason: None }
}

#[test]
fn an_opening_that_is_over_when_it_is_heard_of_is_one_event_and_none_where_it_changes_nothing() {
    let mut origin = Origin::new(1);
    origin.now = 2_000.0;
    origin.hear(0, circuit(1, Some(1_000.0)));
    assert_eq!(origin.tabs[0].circuits, [(2_000.0, Status::HalfOpen)]);
    origin.hear(0, circuit(2, Some(1_500.0)));
    assert_eq!(origin.tabs[0].circuits.len(), 1);
}

#[test]
fn what_time_has_done_is_told_though_the_news_that_comes_then_is_old() {
    let mut origin = Origin::tripped(1);
    origin.run_until(1_000.0);
    origin.start(0, one(Step::Stall));
    origin.tabs[0].news.clear();
    origin.now = 32_000.0;
    origin.hear(0, circuit(0, None));
    assert!(matches!(origin.status(0), Some(Status::Open(_))));
    assert!(matches!(origin.tabs[0].news[..], [News::Circuit { until: Some(_), .. }]));
}

#[test]
fn what_is_held_by_hand_hears_the_others_beneath_the_hand() {
    let mut origin = Origin::new(2);
    let hold = origin.act(0, |sim| {
        let id = sim.engine.resolve(KEY, Some(breaker()), Instant::default());
        sim.by_hand(|engine, now| engine.isolate(id, now));
        id
    });
    for _ in 0..3 {
        origin.start(1, one(status(500)));
        origin.act(1, |sim| sim.run_until(0.0));
    }
    origin.run_until(500.0);
    let let_go = |origin: &mut Origin| {
        origin.act(0, |sim| sim.by_hand(|engine, now| engine.let_go(hold, now)));
    };
    let isolate = |origin: &mut Origin| {
        origin.act(0, |sim| sim.by_hand(|engine, now| engine.isolate(hold, now)));
    };
    let_go(&mut origin);
    assert_eq!(origin.status(0), Some(Status::Open(Instant::from_ms(1_000.0))));
    isolate(&mut origin);
    // The probe of the other one begins and ends unseen here.
    origin.run_until(1_000.0);
    origin.start(1, one(Step::Status(200, 300.0)));
    let_go(&mut origin);
    assert_eq!(origin.status(0), Some(Status::HalfOpen));
    let (call, _) = origin.start(0, one(ok()));
    assert_eq!(origin.tabs[0].traces[call].sent, []);
    isolate(&mut origin);
    origin.run_until(1_300.0);
    assert_eq!(origin.status(0), Some(Status::Isolated));
    let_go(&mut origin);
    assert_eq!((origin.status(0), origin.status(1)), (Some(Status::Closed), Some(Status::Closed)));
    let kinds = [Status::Isolated, Status::Open(Instant::from_ms(1_000.0)), Status::Isolated];
    let told: Vec<_> = origin.tabs[0].circuits.iter().map(|(_, status)| *status).collect();
    assert_eq!(told[..3], kinds);
    assert_eq!(told[3..], [Status::HalfOpen, Status::Isolated, Status::Closed]);
}

#[test]
fn an_opening_that_is_told_twice_is_the_same_whatever_the_wall_clock_makes_of_it() {
    let mut origin = Origin::new(1);
    origin.hear(0, circuit(1, Some(1_000.0)));
    origin.hear(0, circuit(1, Some(3_601_000.0)));
    assert_eq!(origin.status(0), Some(Status::Open(Instant::from_ms(1_000.0))));
    assert_eq!(origin.tabs[0].circuits.len(), 1);
}

#[test]
fn a_count_out_of_all_bounds_stops_no_tab_from_being_heard() {
    let mut origin = Origin::new(2);
    let far = News::Circuit {
        stamp: Stamp { count: u64::MAX, tab: u32::MAX },
        until: Some(Instant::from_ms(500.0)),
        doublings: 0,
        reason: None,
    };
    for _ in 0..1_000 {
        origin.hear(0, far);
        origin.hear(1, far);
    }
    origin.run_until(600.0);
    for tab in [0, 1] {
        origin.start(tab, one(ok()));
        origin.run_until(origin.now + 10.0);
        assert_eq!((origin.status(0), origin.status(1)), (Some(Status::Closed), Some(Status::Closed)));
        for _ in 0..3 {
            origin.start(tab, one(status(500)));
            origin.run_until(origin.now + 1.0);
        }
        assert!(matches!(origin.status(1 - tab), Some(Status::Open(_))), "{tab}");
        origin.run_until(origin.now + 2_000.0);
    }
}

#[test]
fn a_tab_that_is_far_behind_follows_all_the_same() {
    let mut origin = Origin::new(1);
    origin.hear(0, circuit(1_000_000, Some(1_000.0)));
    assert!(matches!(origin.status(0), Some(Status::Open(_))));
    origin.hear(0, circuit(1_000_001, None));
    assert_eq!(origin.status(0), Some(Status::Closed));
}
