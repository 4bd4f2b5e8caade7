//! How many transitions each scenario has, as JSON: what instructions are counted per.

mod scenarios;

use scenarios::SCENARIOS;

fn main() {
    let lines = SCENARIOS.map(|scenario| {
        let mut world = (scenario.world)();
        let before = world.transitions;
        (scenario.run)(&mut world);
        format!("  \"{}\": {}", scenario.name, world.transitions - before)
    });
    println!("{{\n{}\n}}", lines.join(",\n"));
}
