// A page whose frames are tabs that die, each at a point of its own.

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** How long the last tab, with which all is well, may take. */
const PATIENCE = 60_000;

/** A frame; `begin` is asked for each of its lives, as `tab.mjs` wants it. */
function append(begin) {
  const frame = document.createElement("iframe");
  frame.begin = begin;
  frame.src = "/tab";
  document.body.append(frame);
  return frame;
}

/** What is known of entries, by their names. */
function knowledge() {
  const stored = new Set();
  const ids = {};
  const know = (entry, id) => {
    stored.add(entry);
    ids[entry] = id;
  };
  const watch = (outbox) =>
    outbox.subscribe(({ entries, rejected }) => {
      for (const { id, meta } of [...entries, ...rejected]) know(meta, id);
    });
  return { stored, ids, know, watch };
}

// ---------------------------------------------------------------- random schedules

/** Carries a schedule of `plan.mjs` out: what was stored, at which points tabs died, what is left in the end. */
export async function run({ name, careless, tabs, entries, length }) {
  const { stored, ids, know, watch } = knowledge();
  const kills = [];
  const faults = [];
  let over = false;

  /** A tab, which is opened again after each of its ends. */
  function open({ ends }) {
    const tab = { waiting: [], api: undefined, ends: [...ends] };
    tab.began = new Promise((resolve) => {
      tab.there = resolve;
    });
    tab.frame = append(() => {
      tab.api = undefined;
      const end = tab.ends[0];
      const life = { sent: [], stored: 0, count: 0, dead: false };
      const die = (point) => {
        if (life.dead || over) return;
        life.dead = true;
        tab.ends.shift();
        tab.api = undefined;
        tab.there();
        kills.push({ point, how: end.how });
        if (end.how === "reload") return tab.frame.contentWindow.location.reload();
        tab.frame.remove();
        setTimeout(() => over || document.body.append(tab.frame), end.pause);
      };
      if (end?.after) setTimeout(die, end.after, "any time");
      return {
        name,
        careless,
        at(point) {
          if (!end?.point || end.point === point) life.count++;
          // In the order in which they were sent.
          if (point === "stored") stored.add(life.sent[life.stored++]);
          if (end?.count && life.count >= end.count) die(point);
        },
        ready(api) {
          if (life.dead) return;
          tab.api = { ...api, life };
          watch(api.outbox);
          api.outbox.addEventListener("storage-error", ({ detail }) => life.dead || over || faults.push(`${detail}`));
          for (const entry of tab.waiting.splice(0)) send(tab, entry);
          tab.there();
        },
      };
    });
    return tab;
  }

  function send(tab, entry) {
    if (!tab.api) return tab.waiting.push(entry);
    const { life } = tab.api;
    life.sent.push(entry.entry);
    tab.api.send(entry).then(
      ({ id }) => know(entry.entry, id),
      (error) => life.dead || over || faults.push(`${entry.entry}: ${error}`),
    );
  }

  const all = tabs.map(open);
  await Promise.all(all.map(({ began }) => began));
  for (const entry of entries) setTimeout(() => over || send(all[entry.tab], entry), entry.at);
  await sleep(length);
  over = true;
  for (const { frame } of all) frame.remove();
  const mended = await mend({ name });
  return {
    ...mended,
    stored: [...new Set([...stored, ...mended.stored])],
    ids: { ...mended.ids, ...ids },
    kills,
    faults,
  };
}

// ---------------------------------------------------------------- the last tab

/** Opens a tab and sees all delivered that is stored, dead letters too. */
export async function mend({ name, locks }) {
  const { stored, ids, know, watch } = knowledge();
  const revived = new Set();
  let frame;
  const { outbox, list } = await new Promise((resolve) => {
    frame = append(() => ({
      name,
      locks,
      at() {},
      async before(storage) {
        for (const { id, meta } of (await storage.list()).records) if (meta) know(meta, id);
      },
      ready: resolve,
    }));
  });
  watch(outbox);
  // Somebody may have died between that and its opposite.
  await outbox.resume();
  const end = performance.now() + PATIENCE;
  let left = Number.POSITIVE_INFINITY;
  while (left && performance.now() < end) {
    for (const letter of outbox.getSnapshot().rejected) {
      revived.add(letter.meta);
      letter.retryNow();
    }
    await Promise.race([outbox.flush(), sleep(200)]);
    left = (await list()).records.length;
  }
  const aside = (await outbox.quarantined()).length;
  outbox.dispose();
  frame.remove();
  if (!left) indexedDB.deleteDatabase(`steadfetch-outbox ${name}`);
  return { stored: [...stored], ids, revived: [...revived], left, aside };
}

// ---------------------------------------------------------------- a life that passes every point

/**
 * Two outboxes in a tab, which pass every point, while the server does with each entry what its name says. It dies at the pass that `fatal` says, counted among all or among those
 * of a name: the frame goes, or the whole page hangs there until somebody ends it.
 */
export async function live({ name, locks, fatal, hang }) {
  const { stored, ids, know, watch } = knowledge();
  const passed = [];
  let die;
  const dead = new Promise((resolve) => {
    die = resolve;
  });
  const whole = new Promise((resolve, reject) => {
    const frame = append(() => ({
      name,
      locks,
      at(point) {
        passed.push(point);
        const nth = fatal?.point ? passed.filter((each) => each === fatal.point).length : passed.length;
        if (nth !== fatal?.nth || (fatal.point && fatal.point !== point)) return;
        if (hang) stop({ name, stored: [...stored], ids });
        frame.remove();
        die();
      },
      before: async (storage) => {
        await storage.list();
        await plant(name);
      },
      ready: (api) => act(api).then(() => resolve(frame.remove()), reject),
    }));
  });

  async function act({ outbox: first, open, send }) {
    const second = open();
    for (const each of [first, second]) watch(each);
    // Both by a click.
    first.addEventListener("rejected", ({ detail }) => detail.retryNow());
    first.subscribe(({ entries }) => entries.find(({ state }) => state.status === "waiting")?.retryNow());
    const put = async (kind, to) => {
      const entry = `${name} ${kind}`;
      const { id } = await send({ entry, queue: "q", kind, size: kind === "large" ? 70_000 : 0 }, to);
      know(entry, id);
    };
    const pending = () => first.getSnapshot().count + first.getSnapshot().rejected.length;
    await first.pause();
    await Promise.all(["blob", "busy", "refused"].map((entry) => put(entry, first)));
    await put("large", second);
    await first.resume();
    while (pending()) await sleep(5);
    await put("late", first);
    // While it is on its way.
    while (first.getSnapshot().entries[0]?.state.status === "queued") await sleep(1);
    first.dispose();
    while (second.getSnapshot().count) await sleep(5);
    second.dispose();
    await sleep(20);
  }

  await Promise.race([dead, whole]);
  return { stored: [...stored], ids, passed };
}

/** Tells what is known, and waits for an answer that never comes: nothing else happens on the page. */
function stop(known) {
  const request = new XMLHttpRequest();
  request.open("POST", "/reached", false);
  request.send(JSON.stringify(known));
}

/** A record that makes no sense. */
async function plant(name) {
  const db = await new Promise((resolve, reject) => {
    const request = indexedDB.open(`steadfetch-outbox ${name}`);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  await new Promise((resolve, reject) => {
    const tx = db.transaction("entries", "readwrite");
    tx.objectStore("entries").add({ id: 1_000_000, nonsense: true, queue: "q", dead: 0 });
    tx.oncomplete = resolve;
    tx.onabort = () => reject(tx.error);
  });
  db.close();
}

// ---------------------------------------------------------------- what is left for a worker

/** Stores entries of these names, and is gone before one is sent. */
export async function leave({ name, entries }) {
  let release;
  // Nobody else is the one that sends.
  await new Promise((resolve) => {
    const held = new Promise((free) => {
      release = free;
    });
    navigator.locks.request(`steadfetch-outbox ${name}`, () => {
      resolve();
      return held;
    });
  });
  const { stored, ids, know } = knowledge();
  let frame;
  const { send } = await new Promise((resolve) => {
    frame = append(() => ({ name, at() {}, ready: resolve }));
  });
  for (const entry of entries) know(entry, (await send({ entry, queue: "q" })).id);
  frame.remove();
  release();
  return { stored: [...stored], ids };
}
