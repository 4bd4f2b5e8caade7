// The text of the READMEs and of the guide: links lead somewhere, and what tables say is so.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { createFetch } from "steadfetch";
import { script, virtualClock } from "steadfetch/testing";
import { ENDS, end } from "./support/ends.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (name) => readFileSync(path.join(root, name), "utf8");
const REFERENCE = "pkg-template/README.md";
const guide = readdirSync(path.join(root, "docs", "guide")).map((name) => `docs/guide/${name}`);
const documents = ["README.md", "CONTRIBUTING.md", REFERENCE, "pkg-template/with-other-libraries.md", ...guide];

/** Without its blocks of code, whose lines may look like headings. */
const prose = (name) => read(name).replace(/^```.*?^```$/gms, "");

/** What GitHub and npm make of the headings of a document. */
function anchors(name) {
  const slugs = new Set();
  for (const [, heading] of prose(name).matchAll(/^#+ (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    let unique = slug;
    for (let i = 1; slugs.has(unique); i++) unique = `${slug}-${i}`;
    slugs.add(unique);
  }
  return slugs;
}

describe("the links", () => {
  for (const name of documents) {
    test(`of ${name} lead somewhere`, () => {
      const lost = [];
      for (const [, link] of prose(name).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(link)) continue;
        const [file, anchor] = link.split("#");
        const target = file ? path.join(path.dirname(name), file) : name;
        const found = existsSync(path.join(root, target)) && (!anchor || anchors(target).has(anchor));
        if (!found) lost.push(link);
      }
      assert.deepEqual(lost, []);
    });
  }
});

/** The rows of the tables of a document: the texts of their cells by the head of their column. */
function rows(name) {
  const found = [];
  let heads;
  for (const line of prose(name).split("\n")) {
    if (!line.startsWith("|")) heads = undefined;
    else {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim());
      if (!heads) heads = cells;
      else if (!/^[-:| ]+$/.test(line)) found.push(Object.fromEntries(cells.map((cell, i) => [heads[i], cell])));
    }
  }
  return found;
}

/** What stands in backquotes, or else the words. */
const value = (cell) => cell.match(/^`([^`]+)`/)?.[1] ?? cell;

describe("the defaults", () => {
  const options = Object.fromEntries(
    rows(REFERENCE)
      .filter((row) => row.Option && row.Default)
      .map((row) => [value(row.Option), value(row.Default)]),
  );

  test("of the guide are those of the reference", () => {
    let looked = 0;
    for (const name of guide) {
      for (const row of rows(name).filter(({ Default }) => Default)) {
        const option = value(Object.values(row)[0]);
        assert.equal(value(row.Default), options[option], `${option} in ${name}`);
        looked++;
      }
    }
    assert.ok(looked > 15, `only ${looked}`);
  });

  test("of the reference are those of the types, where a value is named", () => {
    const types = read("pkg-template/index.d.ts");
    let looked = 0;
    for (const [option, said] of Object.entries(options)) {
      const declared = types.match(new RegExp(`([^\\n]*\\*/)\\n  ${option.split(".").at(-1)}\\?:`))?.[1];
      if (!/^[\d_."a-z-]+$/i.test(said) || !declared?.includes("efault")) continue;
      // As a whole: 25 is not 250.
      const whole = new RegExp(`(?<![\\w.])${said.replace(/[.]/g, "\\.")}(?![\\w.]*\\w)`);
      assert.match(declared, whole, `${option} is ${said}, and ${declared.trim()}`);
      looked++;
    }
    assert.ok(looked > 15, `only ${looked}`);
  });
});

describe("the defaults of an outbox", () => {
  const types = read("pkg-template/outbox.d.ts");
  const [, members] = types.match(/export interface OutboxOptions[^{]*\{\n(.*?)^\}/ms);
  /** Each option by its comment. */
  const declared = Object.fromEntries(
    [...members.matchAll(/\/\*\*(.*?)\*\/\n {2}(\w+)\?:/gs)].map(([, comment, name]) => [
      name,
      comment.replace(/\s+\*? */g, " "),
    ]),
  );
  const told = Object.fromEntries(
    rows(REFERENCE)
      .filter((row) => row["Option of an outbox"])
      .map((row) => [value(row["Option of an outbox"]), value(row.Default)]),
  );

  test("are told of every option, and of no other", () => {
    assert.deepEqual(Object.keys(told), Object.keys(declared));
    assert.ok(Object.keys(told).length >= 10);
  });

  test("are those of the types", () => {
    for (const [option, said] of Object.entries(told)) {
      const [, meant] = declared[option].match(/Default:? (.*?)\.? ?$/) ?? [];
      assert.equal(said, meant?.replaceAll("`", "") ?? "none", option);
    }
  });

  test("are those of the code, where a number is named", async () => {
    const entry = path.join(root, "pkg-template", "outbox", "options.ts");
    const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm" });
    const code = Buffer.from(outputFiles[0].contents).toString("base64");
    const settings = (await import(`data:text/javascript;base64,${code}`)).read();
    const { maxAge_: age, maxEntries_: entries, maxBytes_: bytes, name_: name } = settings;
    assert.deepEqual(
      [`${age / 86_400_000} days`, entries.toLocaleString("en"), `${bytes / 2 ** 20} MiB`, JSON.stringify(name)],
      [told.maxAge, told.maxEntries, told.maxBytes, told.name],
    );
  });

  test("of how long an entry may wait is the same in the guide", () => {
    assert.match(prose("docs/guide/outbox.md"), new RegExp(`\`maxAge\`, ${told.maxAge} unless`));
  });
});

describe("the table of the ends in the guide", () => {
  const cells = {};
  for (const row of rows("docs/guide/states.md").filter(({ End }) => End)) {
    const [status, reasons, answered, without] = Object.values(row);
    for (const reason of reasons.split(", ")) {
      cells[`${value(status)} ${value(reason)}`.trim()] = { answered, without };
    }
  }
  /** What a cell says of an outcome. */
  const WORDS = {
    resolves: "resolves",
    TypeError: /as `fetch` did|`TypeError`/,
    Error: "your function threw",
    enough: "the reason you gave",
  };
  const tells = (cell, outcome) => {
    const words = WORDS[outcome] ?? `\`${outcome}\``;
    return words instanceof RegExp ? words.test(cell) : cell.includes(words);
  };

  for (const row of ENDS) {
    const [status, reason, answer, [step]] = row;
    const name = `${status} ${reason}`.trim();
    test(`${name}, ${answer ? "with" : "without"} an answer: ${step.status ?? step}`, async () => {
      const cell = cells[name][answer ? "answered" : "without"];
      const told = await end(row);
      assert.deepEqual({ status: told.status, reason: told.reason }, { status, reason });
      assert.ok(tells(cell, told.outcome), `${told.outcome} is not "${cell}"`);
      const { outcome } = await end(row, { throwHttpErrors: true });
      const strict = told.outcome === "resolves" && status !== "success" ? "HttpError" : told.outcome;
      assert.equal(outcome, strict);
    });
  }

  test("has a line for nothing else", () => {
    const has = (name, answer) =>
      ENDS.some(([status, reason, had]) => `${status} ${reason}`.trim() === name && had === answer);
    for (const [name, { answered, without }] of Object.entries(cells)) {
      assert.equal(answered !== "", has(name, true), `${name} with an answer`);
      assert.equal(without !== "", has(name, false), `${name} without one`);
    }
  });
});

test("five calls at once that fail once each are refused after an answer each, as the guide says of circuits", async () => {
  const clock = virtualClock();
  try {
    const server = script([503]);
    const client = createFetch({ fetch: server });
    const outcomes = [];
    for (let i = 0; i < 5; i++) {
      const note = (outcome) => outcomes.push(outcome);
      client("https://api.example/report.json").then(
        ({ status }) => note(`answered ${status}`),
        ({ name, cause }) => note(`${name} after ${cause.status}`),
      );
    }
    await clock.advance(10_000);
    // The last failure leaves nothing of the budget, which ends that call with its answer.
    assert.deepEqual(outcomes.sort(), [...Array(4).fill("CircuitOpenError after 503"), "answered 503"]);
    assert.equal(server.requests.length, 5);
  } finally {
    clock.restore();
  }
});
