export { createFetch, steadfetch } from "./client.ts";
export {
  CircuitOpenError,
  HttpError,
  isCircuitOpenError,
  isHttpError,
  isOfflineError,
  isTimeoutError,
  OfflineError,
  TimeoutError,
} from "./errors.ts";
