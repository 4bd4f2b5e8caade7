import { createFetch } from "steadfetch";
import { useRequest as request, useCall as stateOf } from "steadfetch/vue";
import * as Vue from "vue";

Object.assign(globalThis, { createFetch, request, stateOf, Vue });
