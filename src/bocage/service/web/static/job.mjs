// Follow a job: events while the connection holds, questions again and again while it does not.

import { call, Lost, make, tell } from "./api.mjs";

const byId = (id) => document.getElementById(id);
const box = byId("job");
const address = `/v1/jobs/${box.dataset.job}`;
const OPEN = ["queued", "running"];
const MOST_WAIT = 5000, SILENCE = 20000; // milliseconds
let stream = null, wait = 500, heard = Date.now();

function show(job) {
  heard = Date.now();
  byId("connection").hidden = true;
  wait = 500;
  byId("state").textContent = job.state;
  byId("state").className = `tag ${job.state}`;
  byId("bar").max = job.of;
  byId("bar").value = job.done;
  const waiting = job.state === "queued" ? "It waits for a place to work. " : "";
  byId("words").textContent = `${waiting}${job.done} of ${job.of} levels`;
  if (!OPEN.includes(job.state)) end(job);
}

const trainAgain = () => make("a", { class: "button", href: `/analyst/tables/${box.dataset.table}/train?learner=${box.dataset.learner}` }, "Train again");

/** What came of it, and what to do. */
function end(job) {
  hangUp();
  byId("cancel-row").hidden = true;
  const paid = box.dataset.mode === "release" ? "What was charged stays charged." : "Nothing was charged.";
  const ends = {
    done: () => ["good", "The model is ready.", make("a", { class: "button", href: `/analyst/models/${job.model}` }, "Look at the model")],
    cancelled: () => ["care", `The job was cancelled. ${paid}`, trainAgain()],
    revoked: () => ["stop", `${job.error?.message ?? "The owner has closed the table."} ${paid} Ask the owner.`],
    failed: () => ["stop", `${job.error?.message ?? "The job failed."} ${job.error?.hint ?? ""} A new run is charged anew.`, trainAgain()],
  };
  const [kind, words, ...more] = ends[job.state]();
  const note = byId("end");
  note.className = `note ${kind}`;
  note.setAttribute("role", kind === "good" ? "status" : "alert");
  note.replaceChildren(make("p", {}, words), ...more.map((one) => make("p", {}, one)));
  note.hidden = false;
}

function hangUp() {
  stream?.close();
  stream = null;
}

function follow() {
  stream = new EventSource(`${address}/events`);
  stream.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  stream.addEventListener("end", (event) => show(JSON.parse(event.data)));
  stream.addEventListener("error", (event) => {
    hangUp();
    if (event.data) refuse(JSON.parse(event.data)); // the service says so; without data the line is cut
    else ask();
  });
}

/** The owner has closed the table in the meantime: the job ends by itself before its next level. */
function refuse(error) {
  tell(byId("connection"), error);
  setTimeout(ask, 1000);
}

async function ask() {
  try {
    const job = await call("GET", address, undefined, { tries: 1 });
    show(job);
    if (OPEN.includes(job.state) && !stream) follow();
  } catch (error) {
    if (error instanceof Lost) {
      const words = "The connection is lost. The job goes on without this page; it is shown again as soon as the service answers.";
      byId("connection").className = "note care";
      byId("connection").setAttribute("role", "alert");
      if (byId("connection").textContent !== words) byId("connection").replaceChildren(make("p", {}, words));
      byId("connection").hidden = false;
      wait = Math.min(2 * wait, MOST_WAIT);
      setTimeout(ask, wait);
    } else tell(byId("connection"), error);
  }
}

byId("cancel").addEventListener("click", () => byId("sure").showModal());
byId("sure").addEventListener("close", async () => {
  if (byId("sure").returnValue !== "yes") return;
  try {
    show(await call("DELETE", address));
  } catch (error) {
    tell(byId("connection"), error);
  }
});
const isOpen = () => OPEN.includes(byId("state").textContent);
addEventListener("online", () => { if (!stream && isOpen()) ask(); });
addEventListener("offline", () => { if (stream) { hangUp(); ask(); } });
setInterval(() => { // a line may be dead without a word
  if (stream && Date.now() - heard > SILENCE) { hangUp(); ask(); }
}, 5000);

const { state, model, message, hint } = box.dataset;
if (OPEN.includes(state)) follow();
else end({ state, model, error: message ? { message, hint } : null });
