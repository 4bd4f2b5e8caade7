// What a server does with writes that have an Idempotency-Key, and a record of each request and of each effect. A write
// is `{"entry": name}`; what happens to it is told by its name and by how many requests there were for it.
//
//   const book = effects((entry, nth) => ["ok"]);
//   server.script("/write", (hit) => book.step(hit));
//   book.writes.get("a").effects;
//
//   "ok"            an effect, and 201
//   "busy"          503; "often" is 429, "refuse" 422, "later" 503 for a second
//   "cut"           the connection ends, without an effect; "reset" is the same, in the rude way
//   ["cut-after", ms], ["reset-after", ms]    the same after an effect, which takes so long
//   ["slow", ms]    an effect that takes so long, then 201; meanwhile others with its key are told 409
//   ["late", ms]    an effect at once, 201 only then
const FAULTS = { cut: "hang-up", reset: "refuse", "cut-after": "hang-up", "reset-after": "refuse" };
const STATUS = { busy: 503, often: 429, refuse: 422, later: { status: 503, retryAfter: 1 } };

/** `dedupe: false` is a server that does not know keys again. */
export function effects(told, { dedupe = true } = {}) {
  const writes = new Map();
  const keys = new Map();
  let order = 0;

  const step = (hit) => {
    const key = hit.headers["idempotency-key"];
    const name = JSON.parse(hit.text).entry;
    if (!writes.has(name)) writes.set(name, { sends: 0, effects: [], keys: new Set() });
    const write = writes.get(name);
    write.keys.add(key);
    const [what, ms = 0] = [told(name, write.sends++)].flat();
    if (what === "cut" || what === "reset") return { fault: FAULTS[what] };
    if (what in STATUS) return STATUS[what];
    const state = dedupe ? keys.get(key) : undefined;
    if (state === "working") return 409;
    // The effect comes whether or not anybody waits for the answer.
    const act = () => {
      write.effects.push(order++);
      keys.set(key, "done");
    };
    if (state !== "done") {
      if (ms && what !== "late") {
        keys.set(key, "working");
        setTimeout(act, ms);
      } else act();
    }
    return what in FAULTS ? { fault: FAULTS[what], delay: ms } : { status: 201, delay: ms };
  };
  return { step, writes };
}
