import { createApp } from "vue";
import { place } from "../page";
import Report from "./Report.vue";

createApp(Report).mount(place);
