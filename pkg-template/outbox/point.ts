// The places where a page may die between two steps that belong together, by name, for a build that tests just that.
declare const STEADFETCH_POINTS: boolean;

export function point(name: string): void {
  if (STEADFETCH_POINTS) (globalThis as { steadfetchPoint?: (name: string) => void }).steadfetchPoint?.(name);
}
