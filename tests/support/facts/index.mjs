import { aborts } from "./aborts.mjs";
import { answers } from "./answers.mjs";
import { bodies } from "./bodies.mjs";
import { circuits } from "./circuits.mjs";
import { faults } from "./faults.mjs";
import { options } from "./options.mjs";
import { states } from "./states.mjs";

/** Every fact, by subject. */
export const subjects = { answers, faults, bodies, aborts, circuits, states, options };
