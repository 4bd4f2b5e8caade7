// Disagreements with native fetch that are defects of the package, until they are mended.

/**
 * @type {{ name: string, since: string, why: string, holds: (it: object, difference: object) => boolean }[]}
 */
export const KNOWN = [];
