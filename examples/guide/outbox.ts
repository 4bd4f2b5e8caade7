import { createOutbox } from "steadfetch/outbox";
import { fetch } from "./client.js";

export const outbox = createOutbox<{ text: string }>(fetch);
