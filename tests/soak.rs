//! A million calls through one engine: every one settles, and memory is where it was.

#![cfg(not(target_arch = "wasm32"))]

mod sim;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use sim::{Sim, Step, plan};
use steadfetch::core::call::{Hooks, Input};
use steadfetch::core::connectivity::Page;
use steadfetch::core::engine::Counts;
use steadfetch::core::policy::{self, Covers, Jitter, OnCircuitOpen, OnOffline};
use steadfetch::core::rng::Rng;
use steadfetch::core::time::Span;

/// Counts the bytes in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands every request on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// One of many calls that differ in everything that the core decides on.
fn random_plan(rng: &mut Rng) -> sim::Plan {
    let mut bits = rng.bits();
    let mut pick = |n: u64| {
        let picked = bits % n;
        bits /= n;
        picked
    };
    let mut script = Vec::new();
    for _ in 0..1 + pick(3) {
        script.push(match pick(8) {
            0 | 1 => Step::Status(200, pick(500) as f64),
            2 => Step::Status(503, pick(500) as f64),
            3 => Step::Status(404, 0.0),
            4 => Step::RetryAfter(429, pick(5_000) as f64),
            5 => Step::Stall,
            _ => Step::Drop(pick(500) as f64),
        });
    }
    let mut plan = plan(&script).with(|p| {
        p.retry.limit = pick(5) as u32;
        p.retry.jitter = [Jitter::Full, Jitter::Equal, Jitter::Decorrelated, Jitter::None][pick(4) as usize];
        p.timeout = Some(Span::from_ms(1_000.0));
        p.total_timeout = (pick(3) == 0).then(|| Span::from_ms(3_000.0));
        p.covers = if pick(4) == 0 { Covers::Body } else { Covers::Headers };
        p.on_offline = [OnOffline::Wait, OnOffline::Reject, OnOffline::Ignore][pick(3) as usize];
        p.on_circuit_open = [OnCircuitOpen::Wait, OnCircuitOpen::Reject][pick(2) as usize];
    });
    plan.hooks = Hooks { should_retry: pick(4) == 0, delay: pick(8) == 0, before_retry: pick(8) == 0 };
    plan.delay = Some(20.0);
    plan.throws = pick(16) == 0;
    plan.traits.replayable = pick(8) != 0;
    let breaker = policy::Breaker {
        half_open_after: Span::from_ms(1_000.0),
        probe_lease: Some(Span::from_ms(500.0 + pick(2_000) as f64)),
        ..policy::Breaker::default()
    };
    match pick(5) {
        4 => plan,
        key => plan.behind(KEYS[key as usize], breaker),
    }
}

#[test]
fn a_million_calls_all_settle_and_leave_memory_where_it_was() {
    const BATCHES: usize = 100;
    const CALLS: usize = 10_000;
    let mut rng = Rng::new(2_026);
    let mut sim = Sim::new(rng.bits());
    let mut settled = 0;
    let mut at_rest = Vec::new();
    // Tables grow to the greatest number of calls at once and stay there: that comes first, and not by chance at last.
    for _ in 0..500 {
        sim.start(random_plan(&mut rng));
    }
    sim.run();
    sim.forget();
    for _ in 0..BATCHES {
        let mut begun = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            begun.push(sim.start(random_plan(&mut rng)));
            match rng.bits() % 64 {
                0..=40 => sim.run_until(sim.now + (rng.bits() % 200) as f64),
                41 => sim.run_until(sim.now + 3_600_000.0),
                42 => sim.set_page(Page { online: false, visible: true }),
                43..=45 => sim.set_page(Page::default()),
                46..=55 => {
                    let (trace, slot) = begun[begun.len() - 1 - (rng.bits() as usize % begun.len().min(20))];
                    if sim.traces[trace].end.is_none() {
                        let click = rng.bits().is_multiple_of(2);
                        sim.input(slot, if click { Input::RetryNow } else { Input::Cancel });
                    }
                }
                _ => {}
            }
        }
        sim.set_page(Page::default());
        sim.run();
        settled += sim.traces.iter().filter(|trace| trace.end.is_some()).count();
        assert_eq!(sim.engine.counts(), Counts::default());
        assert_eq!(sim.engine.next_timeout(), None);
        drop(begun);
        sim.forget();
        at_rest.push(IN_USE.load(Ordering::Relaxed));
    }
    assert_eq!(settled, BATCHES * CALLS);
    let (early, late) = (at_rest[BATCHES / 2], at_rest[BATCHES - 1]);
    assert!(late <= early + early / 10, "memory grew from {early} to {late} bytes");
}
