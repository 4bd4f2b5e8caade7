// One client of a family: its options.
import type { Client, Settings } from "#glue";
import type { Family } from "./family.ts";
import { cancelAll } from "./signals.ts";

export class Owner {
  readonly family_: Family;
  private readonly make_: () => Settings;
  private made_: Settings | undefined;
  /** Made by createFetch(): with it go all that extend() made of it. */
  private readonly first_: boolean;
  private disposed_ = false;

  constructor(family: Family, make: () => Settings, first: boolean) {
    this.family_ = family;
    this.make_ = make;
    this.first_ = first;
  }

  /** The options, made on first use. What is thrown while making them is thrown again at the next use. */
  settings_(): Settings {
    return (this.made_ ??= this.make_());
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
    if (this.first_) this.family_.dispose_();
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
