// Random schedules of crashes, each made of its seed alone. What overlaps with what is for the browser to say.

/** Random numbers below 1, the same for the same seed (mulberry32). */
function randomness(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How many points a tab passes before it dies, at most: that many make up the way of some entries. */
const PASSES = 60;
/** What a tab here does not do, as taking up a dead letter: the last one does. */
const NEVER = /^(leas|leav|left|reviv|set|paus)/;

/** `points`: the names of those that a tab may die at. */
export function plan(seed, nth, points) {
  const random = randomness(Math.imul(seed, 1_000_003) + nth);
  const below = (most) => Math.floor(random() * most);
  const between = (least, most) => least + below(most - least + 1);
  const many = (count, make) => Array.from({ length: count }, (_, index) => make(index));
  const passed = points.filter((point) => !NEVER.test(point));
  const name = `${seed}-${nth}`;
  const tabs = many(between(2, 3), () => ({ ends: many(between(0, 4), end) }));
  // One at least.
  tabs[0].ends.push(end());
  const queues = between(1, 2);
  const entries = many(between(4, 7), (index) => ({
    entry: `${name}-${index}`,
    tab: below(tabs.length),
    queue: `q${below(queues)}`,
    at: below(300),
    // Every fifth is too large to outlive its page.
    size: below(5) ? below(200) : 70_000,
    kind: below(4) ? "text" : "blob",
  }));
  const answers = Object.fromEntries(entries.map(({ entry }) => [entry, many(between(0, 4), answer)]));
  return { name, tabs, entries, answers, length: between(600, 1_500) };

  function end() {
    const how = below(4) ? "remove" : "reload";
    const pause = below(150);
    const when = below(10);
    if (!when) return { how, pause, after: between(20, 500) };
    if (when < 4) return { how, pause, count: between(1, PASSES) };
    return { how, pause, point: passed[below(passed.length)], count: between(1, 2) };
  }

  function answer() {
    const kinds = ["ok", "busy", "often", "refuse", "cut", "reset", "cut-after", "reset-after", "slow", "late"];
    const kind = kinds[below(kinds.length)];
    if (kind === "slow" || kind === "late") return [kind, between(10, 250)];
    return kind.endsWith("-after") ? [kind, below(2) * below(200)] : [kind];
  }
}
