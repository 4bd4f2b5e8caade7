import { createFetch } from "steadfetch";

const fetch = createFetch({}, { restore: sessionStorage.getItem("circuits") });
addEventListener("pagehide", () => sessionStorage.setItem("circuits", fetch.snapshot()));
