// One client of a family: its options.
import type { Client, Settings } from "#glue";
import type { SteadOptions } from "../index.js";
import { core } from "./core.ts";
import type { Family } from "./family.ts";
import { cancelAll } from "./signals.ts";

export class Owner {
  readonly family_: Family;
  private readonly options_: SteadOptions | undefined;
  /** What it was extended from; none if it was made by createFetch(): then all others go with it. */
  private readonly base_: Owner | undefined;
  private made_: Settings | undefined;
  private disposed_ = false;

  constructor(family: Family, options: SteadOptions | undefined, base?: Owner) {
    this.family_ = family;
    this.options_ = options;
    this.base_ = base;
  }

  /** The options, made on first use. What is thrown while making them is thrown again at the next use. */
  settings_(): Settings {
    return (this.made_ ??= this.make_());
  }

  private make_(): Settings {
    const { base_: base, options_: options } = this;
    if (base) return core().overlay_(base.settings_(), options);
    const defaults = core().defaults_();
    try {
      return core().overlay_(defaults, options);
    } finally {
      defaults.free();
    }
  }

  /** An option as it was given, for where there is no core to ask. */
  given_<Name extends keyof SteadOptions>(name: Name): SteadOptions[Name] {
    return this.options_?.[name] ?? this.base_?.given_(name);
  }

  get over_(): boolean {
    return this.disposed_ || this.family_.over_;
  }

  client_(): Client {
    if (this.disposed_) throw new DOMException("This client has been disposed", "InvalidStateError");
    return this.family_.client_();
  }

  dispose_(): void {
    // First of all, so that no listener can begin another call.
    this.disposed_ = true;
    if (!this.base_) this.family_.dispose_();
    else {
      const own = [...this.family_.live_].filter((run) => run.owner_ === this);
      cancelAll(own, new DOMException("The client was disposed", "AbortError"));
    }
    const made = this.made_;
    this.made_ = undefined;
    try {
      made?.free();
    } catch {
      // A hook disposes of the client while its call begins: then the memory goes with the module.
    }
  }
}
