// How RxJS and its kin take a store: the interop point of the Observable proposal.

interface Observer<T> {
  next?(value: T): void;
}

/** The name where nobody has defined the symbol. RxJS asks for this name if it was loaded before. */
export const NAME = "@@observable";
export const SYMBOL = ((Symbol as { observable?: symbol }).observable ?? NAME) as "Symbol.observable";

/** Tells the present value, then each other; it does not end, since a call may be run again. */
export function observable<T>(subscribe: (listener: (value: T) => void) => () => void) {
  return {
    subscribe(observer: Observer<T> | ((value: T) => void)): { unsubscribe(): void } {
      const listener = typeof observer === "function" ? observer : (value: T) => observer.next?.(value);
      return { unsubscribe: subscribe(listener) };
    },
    [SYMBOL]() {
      return this;
    },
  };
}
