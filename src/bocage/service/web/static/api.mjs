// Talking to the service that served this page, and saying what to do when it refuses.

/** What the service refused, with its reason and the way out. */
export class Refused extends Error {
  constructor(status, { code = "unknown", message = "the service gave no reason", hint = "" } = {}) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

/** The connection itself failed: nothing is known about what the service did. */
export class Lost extends Error {}

/**
 * Ask the service. A question that may cost something carries an idempotency key, so that it can be
 * sent again after a lost connection without being charged twice.
 */
export async function call(method, path, body, { key, tries = 3 } = {}) {
  const headers = { Accept: "application/json", "X-Bocage-Page": "1" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const request = { method, headers, credentials: "same-origin", body: body && JSON.stringify(body) };
  for (let left = tries; ; ) {
    try {
      const answer = await fetch(path, request);
      const text = await answer.text();
      const document = text ? JSON.parse(text) : null;
      if (!answer.ok) throw new Refused(answer.status, document?.error);
      return document;
    } catch (error) {
      left -= 1;
      const safe = method === "GET" || key; // anything else may have happened already
      if (error instanceof Refused) throw error;
      if (!safe || left <= 0) throw new Lost("the service cannot be reached");
      await new Promise((resume) => { setTimeout(resume, 500 * 2 ** (tries - left)); });
    }
  }
}

/** A key that nobody else will choose. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const WAYS_OUT = {
  401: "Your session has ended, or your key was revoked or replaced. Log in again; if that fails, ask the owner.",
  403: "The owner has closed this table or your access. Ask the owner; what you have spent stays on record.",
  429: "You ask faster than the owner allows. Wait a moment and try again.",
  503: "The service is busy. Wait a moment and try again.",
};

/** Show an error in an element that is read aloud, with the way out. */
export function tell(element, error) {
  const lines = [];
  if (error instanceof Lost) {
    lines.push("The connection is lost. Check the network and try again: nothing is charged twice.");
  } else if (error.status === 401) {
    lines.push(WAYS_OUT[401]); // what the service says is about headers
  } else {
    const hint = /^(GET|Send) /.test(error.hint) ? "" : error.hint; // of use to programs only
    lines.push(error.message, hint || WAYS_OUT[error.status] || "");
  }
  const paragraphs = lines.filter(Boolean).map((line) => {
    const p = document.createElement("p");
    p.textContent = line;
    return p;
  });
  if (error.status === 401) {
    const link = document.createElement("a");
    link.href = `/login?next=${encodeURIComponent(location.pathname)}`;
    link.textContent = "Log in";
    paragraphs.push(link);
  }
  element.className = "note stop";
  element.setAttribute("role", "alert");
  element.replaceChildren(...paragraphs);
  element.hidden = false;
}

/** An element with text and attributes, for what is built from answers. Never from markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
