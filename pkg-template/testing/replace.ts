// Puts members in the place of others, and back.

export class Replaced {
  private readonly undo_: (() => void)[] = [];

  put_(holder: object, name: string, value: unknown): void {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    Object.defineProperty(holder, name, {
      configurable: true,
      writable: true,
      enumerable: !!before?.enumerable,
      value,
    });
    this.undo_.push(() => {
      if (before) Object.defineProperty(holder, name, before);
      else Reflect.deleteProperty(holder, name);
    });
  }

  restore_(): void {
    for (const undo of this.undo_.splice(0).reverse()) undo();
  }
}
