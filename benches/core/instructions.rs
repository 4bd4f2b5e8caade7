//! Instructions of each scenario, counted by callgrind.

mod scenarios;

use gungraun::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use scenarios::{SCENARIOS, Scenario, World};

/// What is not counted: the world before.
fn prepare(name: &str) -> (World, fn(&mut World)) {
    let found = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let &Scenario { world, run, .. } = found.expect("one of the scenarios");
    (world(), run)
}

// Gives the world back, so that the end of it is not counted either.
#[library_benchmark(setup = prepare)]
#[bench::success("success")]
#[bench::retry("retry")]
#[bench::circuit("circuit")]
#[bench::beside_100000("beside_100000")]
#[bench::countdown_1("countdown_1")]
#[bench::countdown_10000("countdown_10000")]
#[bench::countdown_100000("countdown_100000")]
#[bench::cancel_waiting_10000("cancel_waiting_10000")]
#[bench::cancel_queued_10000("cancel_queued_10000")]
fn scenario((mut world, run): (World, fn(&mut World))) -> World {
    run(&mut world);
    world
}

library_benchmark_group!(name = instructions, benchmarks = scenario);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--cache-sim=no"])),
    library_benchmark_groups = instructions
);
