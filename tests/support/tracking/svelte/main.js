import { mount } from "svelte";
import { place } from "../page.js";
import Report from "./Report.svelte";

mount(Report, { target: place });
