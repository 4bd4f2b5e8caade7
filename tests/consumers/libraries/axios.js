import axios from "axios"; // 1.12 or newer
import { createFetch } from "steadfetch";

/** Without axios-retry. */
export const makeAxios = (fetch = createFetch()) => axios.create({ adapter: "fetch", env: { fetch } });
