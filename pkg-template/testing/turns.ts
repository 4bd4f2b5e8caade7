// Real turns of the event loop, whatever becomes of the timers.

type Later = (callback: () => void) => unknown;

/** What comes after everything that is due now; Node has one for that, a page has a message to itself. */
export function realTurn(): () => Promise<void> {
  const { setImmediate, setTimeout, MessageChannel } = globalThis as typeof globalThis & { setImmediate?: Later };
  const later: Later =
    setImmediate ??
    (MessageChannel
      ? (callback) => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => {
            port1.close();
            callback();
          };
          port2.postMessage(0);
        }
      : setTimeout);
  const turn = (): Promise<void> => new Promise((resolve) => later(resolve));
  // What one turn has begun, such as the end of a stream, the next one ends.
  return () => turn().then(turn);
}
