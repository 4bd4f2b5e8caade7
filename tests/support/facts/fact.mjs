// A fact: something that holds of the installed package against a real server, in Node and in a page alike.

/**
 * @typedef {object} Fact
 * @property {string} name  what it proves
 * @property {Record<string, any>} [steps]  the server's script, by path
 * @property {any} [input]  handed to `act` as its second argument: plain data
 * @property {"node" | "browser"} [only]
 * @property {Partial<Record<"chromium" | "firefox" | "webkit", string>>} [except]  engines where it does not hold, and why
 * @property {(kit: any, input: any) => any} act  runs beside the package, in a place of its own: it sees its arguments
 *           and globals only, and what it returns comes back as JSON
 * @property {(value: any, server: any) => void} [check]  judges what came back and what the server saw
 */

/** @returns {Fact} */
export const fact = (name, { steps = {}, ...rest }) => ({ name, steps, ...rest });

/** The same for each input; `name` makes the name of it. */
export const facts = (inputs, name, rest) => inputs.map((input) => fact(name(input), { input, ...rest }));
