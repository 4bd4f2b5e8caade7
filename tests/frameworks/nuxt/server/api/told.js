import { told } from "../../../lib/told.js";

export default defineEventHandler((event) => told(getQuery(event).api));
