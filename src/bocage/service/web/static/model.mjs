// Another tree of a forest, chosen from a list.

import { showTree } from "./tree.mjs";

const which = document.getElementById("which");
which?.addEventListener("change", async () => {
  const tree = document.getElementById("tree");
  const address = `${which.dataset.svg}?tree=${which.value}`;
  tree.dataset.svg = address;
  document.getElementById("svg-file").href = address;
  document.getElementById("rule").textContent = "Choose a node to read its rule and its released counts.";
  try {
    await showTree(tree);
  } catch (error) {
    tree.textContent = `${error.message}. Reload the page.`;
  }
});
