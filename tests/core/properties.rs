//! What holds whatever happens: random calls, outcomes, clicks, cancellations, clock jumps and connectivity.

use crate::sim::{Plan, Sim, Step, plan};
use proptest::prelude::*;
use steadfetch::core::call::{Hooks, Input};
use steadfetch::core::connectivity::Page;
use steadfetch::core::policy::{self, Covers, Jitter, OnCircuitOpen, OnExhausted, OnOffline, Retry};
use steadfetch::core::time::Span;

#[derive(Clone, Debug)]
enum Op {
    Start(Box<Wish>),
    Pass(f64),
    Cancel(usize),
    RetryNow(usize),
    Retry(usize),
    Watch(usize, bool),
    Page(bool, bool),
    Observe(bool),
    Reset,
    Isolate,
    LetGo,
}

#[derive(Clone, Debug)]
struct Wish {
    script: Vec<Step>,
    limit: u32,
    jitter: Jitter,
    timeout: Option<f64>,
    total: Option<f64>,
    keyed: bool,
    listed: bool,
    replayable: bool,
    hooks: Hooks,
    should_retry: Option<bool>,
    throws: bool,
    circuit: Option<&'static str>,
    wait: bool,
    hold: bool,
    body: bool,
    offline: OnOffline,
    probes: u32,
    again: bool,
}

impl Wish {
    fn plan(&self) -> Plan {
        let mut plan = plan(&self.script).with(|p| {
            p.retry = Retry { limit: self.limit, jitter: self.jitter, ..Retry::default() };
            p.timeout = self.timeout.map(Span::from_ms);
            p.total_timeout = self.total.map(Span::from_ms);
            p.on_circuit_open = if self.wait { OnCircuitOpen::Wait } else { OnCircuitOpen::Reject };
            p.on_exhausted = if self.hold { OnExhausted::Hold } else { OnExhausted::Settle };
            p.covers = if self.body { Covers::Body } else { Covers::Headers };
            p.on_offline = self.offline;
        });
        plan.traits.keyed = self.keyed;
        plan.traits.listed = self.listed;
        plan.traits.replayable = self.replayable;
        plan.hooks = self.hooks;
        plan.should_retry = self.should_retry;
        plan.delay = Some(30.0);
        plan.throws = self.throws;
        plan.run = 1 + u32::from(self.again);
        match self.circuit {
            Some(key) => plan.behind(
                key,
                policy::Breaker {
                    consecutive_failures: 3,
                    half_open_after: Span::from_ms(500.0),
                    max_open: Span::from_ms(2_000.0),
                    half_open_probes: self.probes,
                    probe_lease: Some(Span::from_ms(3_000.0)),
                    ..policy::Breaker::default()
                },
            ),
            None => plan,
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let status = prop::sample::select(vec![200_u16, 204, 304, 400, 404, 409, 413, 429, 500, 501, 503]);
    prop_oneof![
        4 => (status.clone(), 0.0..2_000.0).prop_map(|(status, after)| Step::Status(status, after)),
        2 => (status, 0.0..90_000.0).prop_map(|(status, ms)| Step::RetryAfter(status, ms)),
        3 => (0.0..2_000.0).prop_map(Step::Drop),
        1 => Just(Step::Stall),
    ]
}

fn wish() -> impl Strategy<Value = Op> {
    let jitter = prop::sample::select(vec![Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::None]);
    let offline = prop::sample::select(vec![OnOffline::Wait, OnOffline::Reject, OnOffline::Ignore]);
    let circuit = prop::sample::select(vec![None, Some("a"), Some("a"), Some("b")]);
    let numbers = (0_u32..6, 1_u32..4, prop::option::of(1.0..3_000.0), prop::option::of(1.0..20_000.0));
    let flags = prop::collection::vec(any::<bool>(), 12);
    let script = prop::collection::vec(step(), 1..6);
    (script, jitter, offline, circuit, numbers, flags, prop::option::of(any::<bool>())).prop_map(
        |(script, jitter, offline, circuit, (limit, probes, timeout, total), f, should_retry)| {
            // A stall needs someone to end it.
            let timeout = timeout.or(Some(2_500.0));
            Op::Start(Box::new(Wish {
                script,
                limit,
                jitter,
                timeout,
                total,
                keyed: f[0],
                listed: f[1] || f[2],
                replayable: f[3] || f[4],
                hooks: Hooks { should_retry: f[5], delay: f[6], before_retry: f[7] },
                should_retry,
                throws: f[8] && f[9],
                circuit,
                wait: f[10],
                hold: f[11] && f[9],
                body: f[8] && f[10],
                offline,
                probes,
                again: f[9] && f[10],
            }))
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => wish(),
        6 => prop_oneof![Just(0.0), 0.0..300.0, 300.0..5_000.0, Just(3_600_000.0)].prop_map(Op::Pass),
        2 => (0_usize..40).prop_map(Op::Cancel),
        2 => (0_usize..40).prop_map(Op::RetryNow),
        1 => (0_usize..40).prop_map(Op::Retry),
        2 => (0_usize..40, any::<bool>()).prop_map(|(call, watched)| Op::Watch(call, watched)),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(online, visible)| Op::Page(online, visible)),
        1 => any::<bool>().prop_map(Op::Observe),
        1 => Just(Op::Reset),
        1 => Just(Op::Isolate),
        1 => Just(Op::LetGo),
    ]
}

/// Plays the operations and then lets everything come to its end.
fn play(seed: u64, ops: Vec<Op>) -> Sim {
    let mut sim = Sim::new(seed);
    let mut slots: Vec<(usize, u32)> = Vec::new();
    let mut holds = Vec::new();
    // A place may belong to another call by now: only live calls are touched.
    let live = |sim: &Sim, slots: &[(usize, u32)], call: usize| {
        slots.get(call).filter(|(trace, _)| sim.traces[*trace].end.is_none()).map(|(_, slot)| *slot)
    };
    for op in ops {
        match op {
            Op::Start(wish) => slots.push(sim.start(wish.plan())),
            Op::Pass(ms) => sim.run_until(sim.now + ms),
            Op::Cancel(call) => {
                if let Some(slot) = live(&sim, &slots, call) {
                    assert!(sim.input(slot, Input::Cancel));
                    assert!(sim.traces[slots[call].0].end.is_some(), "a cancelled call is over at once");
                }
            }
            Op::RetryNow(call) => {
                if let Some(slot) = live(&sim, &slots, call) {
                    let before = sim.traces[slots[call].0].states.len();
                    let effect = sim.input(slot, Input::RetryNow);
                    let trace = &sim.traces[slots[call].0];
                    assert!(!effect || trace.states.len() > before, "it says that it had an effect");
                }
            }
            Op::Retry(call) => {
                if let Some(slot) = live(&sim, &slots, call) {
                    sim.input(slot, Input::Retry);
                }
            }
            Op::Watch(call, watched) => {
                if let Some(slot) = live(&sim, &slots, call) {
                    sim.input(slot, Input::Watch(watched));
                }
            }
            Op::Page(online, visible) => sim.set_page(Page { online, visible }),
            Op::Observe(observed) => sim.by_hand(|engine, _| engine.set_observed(observed)),
            Op::Reset => {
                if let Some(id) = sim.engine.find_circuit("a") {
                    sim.by_hand(|engine, now| engine.reset(id, now));
                }
            }
            Op::Isolate => {
                if let Some(id) = sim.engine.find_circuit("a") {
                    sim.by_hand(|engine, now| engine.isolate(id, now));
                    holds.push(id);
                }
            }
            Op::LetGo => {
                if let Some(id) = holds.pop() {
                    sim.by_hand(|engine, now| engine.let_go(id, now));
                }
            }
        }
    }
    for id in holds {
        sim.by_hand(|engine, now| engine.let_go(id, now));
    }
    sim.set_page(Page::default());
    sim.by_hand(|engine, _| engine.set_observed(false));
    sim.run();
    // Held calls wait for a person.
    for (trace, slot) in slots {
        if sim.traces[trace].end.is_none() {
            sim.input(slot, Input::Cancel);
        }
    }
    sim.run();
    sim
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_settles_and_leaves_nothing_behind(seed: u64, ops in prop::collection::vec(op(), 1..60)) {
        let sim = play(seed, ops);
        sim.assert_nothing_left();
    }

    #[test]
    fn times_never_run_back_and_waits_are_kept(seed: u64, ops in prop::collection::vec(op(), 1..60)) {
        let sim = play(seed, ops);
        for trace in &sim.traces {
            prop_assert!(trace.sent.windows(2).all(|pair| pair[0] <= pair[1]));
            prop_assert!(trace.states.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            // Two states in a row are never the same: whoever looks is told of changes only.
            prop_assert!(trace.states.windows(2).all(|pair| (pair[0].1, pair[0].2) != (pair[1].1, pair[1].2)));
        }
    }
}
