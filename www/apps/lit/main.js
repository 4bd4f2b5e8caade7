import { createFetch } from "steadfetch";
import { options } from "../lib/backend.js";
import "./app.js";

const app = document.createElement("small-app");
app.client = createFetch(options);
document.getElementById("app").append(app);
