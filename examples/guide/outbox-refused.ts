import { outbox } from "./outbox.js";

const list = document.querySelector("#refused") as HTMLElement;

outbox.subscribe(({ rejected }) => {
  const lines = rejected.map(({ meta, state, retryNow, cancel }) => {
    const line = document.createElement("li");
    const said = document.createElement("p");
    if (state.status === "rejected") {
      // A copy, since a body can be read once, and this is shown more often.
      state.response
        ?.clone()
        .text()
        .then((text) => said.append(text), console.error);
    }
    line.append(`${meta?.text}: refused`, said, button("Send again", retryNow), button("Discard", cancel));
    return line;
  });
  list.replaceChildren(...lines);
});

function button(text: string, act: () => void) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

/** What was refused because nobody was logged in is sent again. */
export function loggedIn() {
  for (const { state, retryNow } of outbox.getSnapshot().rejected) {
    if (state.status === "rejected" && state.response?.status === 401) retryNow();
  }
}
