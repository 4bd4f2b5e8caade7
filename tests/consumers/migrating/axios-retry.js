import axios from "axios";
import axiosRetry, { exponentialDelay } from "axios-retry";
import { createFetch } from "steadfetch";

const old = axios.create({ timeout: 10_000 });
axiosRetry(old, { retries: 3, retryDelay: exponentialDelay });
export const before = async (url) => (await old.get(url)).data;

const client = createFetch({ retry: 3, timeout: 10_000, throwHttpErrors: true });
export const after = async (url) => (await client(url)).json();
