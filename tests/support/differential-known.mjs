// Disagreements with native fetch that are defects of the package, until they are mended. The test fails where an
// example agrees: then its entry has to go.

/**
 * @type {{
 *   name: string,
 *   since: string,
 *   why: string,
 *   holds: (it: object, difference: object) => boolean,  as narrow as can be, with `only` of differential.mjs
 *   example: object,
 *   engines?: string[],  those that it is about; default: all
 * }[]}
 */
export const KNOWN = [];
