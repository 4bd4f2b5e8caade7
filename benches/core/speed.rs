//! How fast the core is on this machine, by criterion; in nanoseconds per transition.

mod scenarios;

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use scenarios::World;

const CROWDS: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
/// Copies of a larger crowd are made one at a time: of many there would be no room in the caches, or in memory.
const LARGE: usize = 1_000;

/// How many transitions it is once.
fn transitions(world: &World, act: Act) -> Throughput {
    let mut copy = world.clone();
    act(&mut copy);
    Throughput::Elements(copy.transitions - world.transitions)
}

type Act = fn(&mut World);
type Crowd = fn(usize) -> World;

/// One call at a time. Each leaves the engine as it found it.
fn calls(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    let mut bench = |name, mut world: World, act: Act| {
        group.throughput(transitions(&world, act));
        group.bench_function(name, |bencher| bencher.iter(|| act(&mut world)));
    };
    bench("success", World::by_default(), World::success);
    bench("retry", World::unsteady(), World::retry);
    bench("circuit", World::around_a_circuit(), World::circuit);
}

/// One second of a crowd that counts down, and a call that succeeds beside one that waits.
fn growth(criterion: &mut Criterion) {
    let mut bench = |name, crowd: Crowd, act: Act| {
        let mut group = criterion.benchmark_group(name);
        for calls in CROWDS {
            let mut world = crowd(calls);
            group.throughput(transitions(&world, act));
            group.bench_function(BenchmarkId::from_parameter(calls), |bencher| {
                bencher.iter(|| act(&mut world))
            });
        }
    };
    bench("countdown", World::counting_down, World::second);
    bench("beside", World::waiting, World::success);
}

/// A crowd that one signal cancels.
fn cancel(criterion: &mut Criterion) {
    let mut bench = |name, crowd: Crowd| {
        let mut group = criterion.benchmark_group(name);
        for calls in CROWDS {
            let world = crowd(calls);
            let size = if calls < LARGE { BatchSize::SmallInput } else { BatchSize::PerIteration };
            group.throughput(transitions(&world, World::cancel));
            group.bench_function(BenchmarkId::from_parameter(calls), |bencher| {
                bencher.iter_batched_ref(|| world.clone(), World::cancel, size);
            });
        }
    };
    bench("cancel_waiting", World::waiting);
    bench("cancel_queued", World::queued);
}

fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group!(name = all; config = short(); targets = calls, growth, cancel);
criterion_main!(all);
