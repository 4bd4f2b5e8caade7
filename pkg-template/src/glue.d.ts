// What wasm-bindgen makes of src/web/client.rs.
import type { Host } from "./family.ts";
import type { Run } from "./run.ts";
import type { News } from "./tabs.ts";

/**
 * What survives of a key: its circuit's end in ms, doublings and reason, its budget in thousandths and its age in ms, until
 * when the server wants no call, and the status that said so.
 */
export type SavedKey = [
  key: string,
  open: number,
  doublings: number,
  reason: number,
  milli: number,
  age: number,
  parked: number,
  status: number,
];
export function imports(): WebAssembly.Imports;
/** From now on this instance is the one that is used. */
export function adopt(instance: { exports: WebAssembly.Exports }): void;
export class Settings {
  private constructor();
  free(): void;
  readonly shared_: boolean;
}
export class Client {
  constructor(host: Host);
  static defaults_(): Settings;
  static overlay_(base: Settings, options: object | undefined): Settings;
  start_(settings: Settings, run: Run, number: number, options: object | undefined): void;
  settled_(slot: number, seq: number, status: number, value: unknown): void;
  awaits_(slot: number, seq: number): boolean;
  unsent_(slot: number, seq: number, threw: boolean, error: unknown): void;
  static release_(bytes: number): void;
  answered_(slot: number, seq: number, question: number, threw: boolean, answer: unknown): void;
  bodyRead_(slot: number, seq: number, equal: Response): void;
  keepAlive_(slot: number, seq: number, bytes: number): boolean;
  cancel_(slot: number, reason: unknown, queued: boolean): void;
  retryNow_(slot: number): boolean;
  retry_(slot: number): boolean;
  watch_(slot: number, watched: boolean): void;
  observe_(observed: boolean): void;
  wake_(): void;
  rang_(): void;
  circuits_(): unknown[];
  snapshot_(): unknown;
  hear_(settings: Settings, ...news: News): void;
  locked_(slot: number, seq: number, lock: number): boolean;
  kept_(): SavedKey[];
  restore_(settings: Settings, ...kept: SavedKey): void;
  isolate_(settings: Settings, key: string): number;
  letGo_(id: number): void;
  reset_(key: string | undefined): void;
  dispose_(reason: unknown): boolean;
  free(): void;
}
