import ky from "ky";
import { createFetch } from "steadfetch";

const old = ky.create({ retry: { limit: 3, delay: () => 100 } });
export const before = (url) => old(url).json();

const client = createFetch({ retry: { limit: 3, delay: () => 100 }, throwHttpErrors: true });
export const after = async (url) => (await client(url)).json();
