// One client of a family: its options.
import type { SteadOptions } from "../index.js";
import type { Driver } from "./driver.ts";
import type { Family } from "./family.ts";
import { defaults, overlay, type Settings } from "./options.ts";
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
    return (this.made_ ??= overlay(this.base_?.settings_() ?? defaults, this.options_));
  }

  /** An option as it was given, for where there is no core to ask. */
  given_<Name extends keyof SteadOptions>(name: Name): SteadOptions[Name] {
    return this.options_?.[name] ?? this.base_?.given_(name);
  }

  get over_(): boolean {
    return this.disposed_ || this.family_.over_;
  }

  client_(): Driver {
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
  }
}
