import { mount } from "svelte";
import { place } from "../page";
import Report from "./Report.svelte";

mount(Report, { target: place });
