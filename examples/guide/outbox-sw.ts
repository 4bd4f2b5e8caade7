import { createFetch } from "steadfetch";
import { drainOnSync } from "steadfetch/outbox/sw";

drainOnSync(createFetch());
