// The price of what a form says, asked again whenever it changes, before anything is spent.

import { make, tell } from "./api.mjs";
import { short } from "./epsilon.mjs";

const PAUSE = 300; // milliseconds without a change

/** Call `ask` after the last of several changes; what was asked before and comes late is dropped. */
export function following(ask, show, refused) {
  let timer, latest = 0;
  return () => {
    clearTimeout(timer);
    const mine = ++latest;
    timer = setTimeout(async () => {
      try {
        const answer = await ask();
        if (mine === latest) show(answer);
      } catch (error) {
        if (mine === latest) refused(error);
      }
    }, PAUSE);
  };
}

/** Price, expected error and what would be left, in words; whether there is enough. */
export function showPrice(element, { cost, after, error = "", refused }) {
  element.className = refused ? "note stop" : "note good";
  const price = make("p", {}, `Costs epsilon ${short(cost)}`);
  if (error) price.append("; ", make("strong", {}, error));
  price.append(".");
  const rest = refused
    ? "That is more than you have left: it would be refused. Lower epsilon, or ask the data owner for more."
    : `Leaves you ${short(after)}.`;
  element.replaceChildren(price, make("p", { class: "small" }, rest));
  return !refused;
}

/** Why there is no price. It changes while somebody types, so it is read out when they pause. */
export function showRefusal(element, error) {
  tell(element, error);
  element.setAttribute("role", "status");
}
