import { createApp } from "vue";
import { place } from "../page.js";
import Report from "./Report.vue";

createApp(Report).mount(place);
