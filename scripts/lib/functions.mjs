// What each function of a wasm takes, from its code section and its names (WebAssembly core specification, "Binary Format").

import { demangle } from "./demangle.mjs";

const SECTION = { custom: 0, import: 2, code: 10, data: 11 };
const FUNCTION_NAMES = 1;
/** Kinds of imports. */
const IMPORT = { function: 0, table: 1, memory: 2, global: 3 };

/**
 * @param {Buffer} bytes
 * @returns {{ functions: { name: string, bytes: number }[], code: number, data: number }}  the largest function first
 */
export function functionsOf(bytes) {
  const sizes = [];
  const names = new Map();
  const totals = { code: 0, data: 0 };
  let imported = 0;
  const all = new Reader(bytes, 8);
  while (all.more()) {
    const id = all.byte();
    const section = all.part();
    if (id === SECTION.import) imported = countImports(section);
    if (id === SECTION.data) totals.data = section.left();
    if (id === SECTION.code) {
      totals.code = section.left();
      section.list(() => sizes.push(section.part().left()));
    }
    if (id === SECTION.custom && section.text() === "name") readNames(section, names);
  }
  const functions = sizes.map((size, i) => ({
    name: demangle(names.get(imported + i) ?? `function ${i}`),
    bytes: size,
  }));
  return { functions: functions.sort((a, b) => b.bytes - a.bytes), ...totals };
}

function countImports(section) {
  let functions = 0;
  section.list(() => {
    section.text();
    section.text();
    const kind = section.byte();
    if (kind === IMPORT.function) functions++;
    if (kind === IMPORT.global) section.skip(2);
    else if (kind === IMPORT.table) section.skip(1);
    if (kind !== IMPORT.global) section.limits(kind !== IMPORT.function);
  });
  return functions;
}

function readNames(section, names) {
  while (section.more()) {
    const id = section.byte();
    const part = section.part();
    if (id === FUNCTION_NAMES) part.list(() => names.set(part.number(), part.text()));
  }
}

class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }
  more = () => this.at < this.bytes.length;
  left = () => this.bytes.length - this.at;
  byte = () => this.bytes[this.at++];
  skip = (count) => (this.at += count);
  /** Unsigned LEB128. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }
  /** What has its length in front. */
  part() {
    const length = this.number();
    return new Reader(this.bytes.subarray(this.at, (this.at += length)));
  }
  text = () => this.part().bytes.toString();
  list(read) {
    for (let count = this.number(); count > 0; count--) read();
  }
  /** Of a table or a memory, or the type of a function. */
  limits(limited) {
    const more = limited ? this.number() & 1 : 0;
    this.number();
    if (more) this.number();
  }
}
