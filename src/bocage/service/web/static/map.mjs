// Wait for a map that is being drawn, and show it when it is there.

import { call, Lost, tell } from "./api.mjs";

const drawing = document.getElementById("drawing");

async function look() {
  try {
    const state = await call("GET", drawing.dataset.state, undefined, { tries: 1 });
    document.getElementById("problem").hidden = true;
    if (state.ended) {
      location.reload();
      return;
    }
    const bar = document.getElementById("bar");
    bar.max = state.of || 1;
    bar.value = state.done;
    document.getElementById("words").textContent = `${state.done} of ${state.of || "…"} runs`;
  } catch (error) {
    tell(document.getElementById("problem"), error);
    if (!(error instanceof Lost)) return;
  }
  setTimeout(look, 1000);
}

if (drawing) setTimeout(look, 500);
