/**
 * The person's side of a survey, in a browser or in Node: distort a record, keep what was sent, read
 * what is protected, apply a model. It depends on nothing, asks nobody, and runs no code from a file.
 *
 * Noise follows from integers alone, step by step as in Bocage's Python package: the same survey file
 * and the same random bytes give the same record on both sides.
 */

export class SurveyError extends Error {}

const fail = (message) => {
  throw new SurveyError(message);
};

// --- exact numbers: fractions are pairs of BigInts, reduced, the second above 0 ----------------------

const gcd = (a, b) => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b));
const reduced = ([p, q]) => [p / gcd(p, q), q / gcd(p, q)];
const times = ([a, b], [c, d]) => reduced([a * c, b * d]);
const over = ([a, b], [c, d]) => reduced(c < 0n ? [-a * d, -b * c] : [a * d, b * c]);
const plus = ([a, b], [c, d]) => reduced([a * d + c * b, b * d]);
const minus = (a, [c, d]) => plus(a, [-c, d]);
const bitLength = (n) => (n === 0n ? 0n : BigInt(n.toString(2).length));
const ceilDiv = (a, b) => (a + b - 1n) / b;

/** A fraction from a whole number, "3/7", "-0.25" or "25". */
function fraction(value, what) {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  const form = typeof text === "string" && text.length <= 800;
  const match = form && /^([+-]?)(\d+)(?:\/(\d+)|\.(\d*))?$/.exec(text);
  if (!match) fail(`${what} is no exact number.`);
  const [, sign, whole, under, decimals = ""] = match;
  const q = under === undefined ? 10n ** BigInt(decimals.length) : BigInt(under);
  if (q === 0n) fail(`${what} is no exact number.`);
  const p = BigInt(under === undefined ? whole + decimals : whole);
  return reduced([sign === "-" ? -p : p, q]);
}

/** The double nearest to a fraction: 66 bits and a sticky one, rounded once. */
function toDouble([p, q]) {
  if (p < 0n) return -toDouble([-p, q]);
  let shift = 66n - (bitLength(p) - bitLength(q));
  if (shift < 0n) shift = 0n;
  const sticky = (p << shift) % q === 0n ? 0n : 1n;
  let x = Number(((p << shift) / q) | sticky);
  for (; shift > 0n; shift -= 1n) x /= 2;
  return x;
}

// --- noise: tables of how many of the 2**128 values of a random integer belong to each outcome -------

const BITS = 128n;
const WHOLE = 1n << BITS;
const WEIGHT_BITS = 192n;
const MOST_STEPS = 2 ** 20;
const LARGEST_EPSILON = 64n;
const NANO = [10n ** 9n, 1n];

/** Integers with low <= 2**bits * exp(-p/q) <= high. */
function expBounds([p, q], bits) {
  if (p === 0n) return [1n << bits, 1n << bits];
  if (p >= bits * q) return [0n, 1n];
  let halvings = bitLength(p) - bitLength(q) + 5n;
  if (halvings < 0n) halvings = 0n;
  const work = bits + 2n * halvings + 16n;
  const under = q << halvings;
  let [low, high, termLow, termHigh] = Array(4).fill(1n << work);
  for (let k = 1n; termHigh > 1n; k += 1n) {
    termLow = (termLow * p) / (under * k);
    termHigh = ceilDiv(termHigh * p, under * k);
    [low, high] = k % 2n ? [low - termHigh, high - termLow] : [low + termLow, high + termHigh];
  }
  [low, high] = [low - 1n, high + 1n];
  for (let i = 0n; i < halvings; i += 1n) {
    [low, high] = [(low * low) >> work, ceilDiv(high * high, 1n << work)];
  }
  return [low >> (work - bits), ceilDiv(high, 1n << (work - bits))];
}

/** Lower and upper bounds on 2**bits * exp(-x * k) for k = 0 .. count - 1. */
function powerBounds(x, count, bits) {
  const work = bits + bitLength(BigInt(count)) + 8n;
  const [stepLow, stepHigh] = expBounds(x, work);
  let [low, high] = [1n << work, 1n << work];
  const lows = [];
  const highs = [];
  for (let k = 0; k < count; k += 1) {
    lows.push(low >> (work - bits));
    highs.push(ceilDiv(high, 1n << (work - bits)));
    [low, high] = [(low * stepLow) >> work, ceilDiv(high * stepHigh, 1n << work)];
  }
  return [lows, highs];
}

/** Noise with P(noise >= k) = P(noise <= -k) = tails[k - 1] / 2**128. */
function symmetric(tails) {
  const thresholds = [...tails].reverse().concat(tails.map((tail) => WHOLE - tail));
  return { first: -tails.length, thresholds };
}

function uniformTable(alpha) {
  const a = BigInt(alpha);
  return symmetric(Array.from({ length: alpha }, (_, k) => (WHOLE * (a - BigInt(k))) / (2n * a + 1n)));
}

function gaussianTable(sigma, reach) {
  const rate = reduced([sigma[1] ** 2n, sigma[0] ** 2n]);
  let [ratio] = expBounds(times(rate, [1n, 2n]), WEIGHT_BITS);
  const [shrink] = expBounds(rate, WEIGHT_BITS);
  const weights = [];
  for (let weight = 1n << WEIGHT_BITS; weight; ) {
    weights.push(weight);
    weight = (weight * ratio) >> WEIGHT_BITS;
    ratio = (ratio * shrink) >> WEIGHT_BITS;
  }
  const whole = 2n * weights.reduce((sum, weight) => sum + weight, 0n) - weights[0];
  const tails = [];
  let above = 0n;
  for (let k = weights.length - 1; k > 0; k -= 1) {
    above += weights[k];
    tails.push((above << BITS) / whole);
  }
  return symmetric(tails.reverse().slice(0, reach).filter((tail) => tail > 0n));
}

function laplaceTable(epsilon, steps) {
  const [lows, highs] = powerBounds(times(epsilon, [1n, BigInt(steps)]), steps + 1, WEIGHT_BITS);
  const below = (1n << WEIGHT_BITS) + lows[1];
  return symmetric(highs.slice(1).map((high) => ceilDiv(high << BITS, below)));
}

function responseTable(epsilon, arity) {
  const [, high] = expBounds(epsilon, WEIGHT_BITS);
  const others = BigInt(arity - 1);
  const lie = ceilDiv(high << BITS, (1n << WEIGHT_BITS) + others * high);
  const truth = WHOLE - others * lie;
  return { first: 0, thresholds: Array.from({ length: arity - 1 }, (_, k) => truth + BigInt(k) * lie) };
}

/** The outcome of a random integer: the first one plus the number of thresholds at or below it. */
function outcome({ first, thresholds }, whole) {
  let [low, high] = [0, thresholds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (thresholds[middle] <= whole) low = middle + 1;
    else high = middle;
  }
  return first + low;
}

// --- surveys -----------------------------------------------------------------------------------------

/** The object in a file of ours, handed to `read`; whatever goes wrong is a SurveyError. */
function reading(file, what, read) {
  try {
    return read(typeof file === "string" ? JSON.parse(file) : file);
  } catch (error) {
    if (error instanceof SurveyError) throw error;
    throw new SurveyError(`this is no ${what}: ${error.message}`);
  }
}

/** Read a survey: the text of its file, or the object in it. */
export function parseSurvey(file) {
  return reading(file, "survey", survey);
}

function survey(document) {
  if (document?.format !== "bocage.survey") fail("this is no survey.");
  if (document.version !== 1) fail("the survey has a version that this program does not know.");
  const { fingerprint, ...content } = document;
  if (fingerprint !== sha256(canonical(content))) {
    fail("the survey was changed by hand or on the way: its fingerprint is not that of its content.");
  }
  const { schema, distortions, title, edition } = content;
  const asked = [...(schema?.attributes ?? []), ...(schema?.target ? [schema.target] : [])];
  if (!Array.isArray(distortions)) fail("the survey has no distortions.");
  const columns = asked.map((entry) => {
    const found = distortions.filter((distortion) => distortion?.name === entry?.name);
    if (found.length !== 1) fail(`${entry?.name} needs one distortion.`);
    return withDistortion(attribute(entry), found[0]);
  });
  if (!columns.length || distortions.length !== columns.length) fail("a distortion has no column.");
  return { title, edition, fingerprint, columns };
}

function attribute(entry) {
  const { name, values, marker = null } = entry;
  if (typeof name !== "string") fail("an attribute has no name.");
  if (entry.type === "categorical") {
    const listed = Array.isArray(values) && values.length && values.every((v) => typeof v === "string");
    if (!listed) fail(`${name} has no list of values.`);
    const index = new Map(values.map((value, code) => [value, code]));
    const rule = (choice) => (choice == null ? -1 : index.get(choice.value) ?? fail(`${name}: bad rule.`));
    const codes = { missing: rule(entry.missing), outside: rule(entry.outside) };
    return { name, marker, values, index, cells: values.length, ...codes };
  }
  if (entry.type !== "numeric") fail(`${name} is neither categorical nor numeric.`);
  const [lower, upper] = [fraction(entry.lower, name), fraction(entry.upper, name)];
  const step = entry.step === undefined ? null : fraction(entry.step, name);
  const range = minus(upper, lower);
  if (range[0] <= 0n || (step && step[0] <= 0n)) fail(`${name} has no range.`);
  const cells = step ? Number(over(range, step)[0]) + 1 : entry.cells;
  if (!Number.isSafeInteger(cells) || cells < 1 || cells > 65536) fail(`${name} has no grid.`);
  const width = step ?? over(range, [BigInt(cells), 1n]);
  const grid = { lower: toDouble(lower), upper: toDouble(upper), perUnit: toDouble(over([1n, 1n], width)) };
  const column = { name, marker, cells, range, width, start: lower, step, ...grid, shift: step ? 0.5 : 0 };
  column.clamp = entry.outside === "clamp";
  column.missing = -1;
  if (entry.missing !== "drop") column.missing = cellOf(column, toDouble(fraction(entry.missing, name)));
  return column;
}

const cellOf = (column, x) =>
  Math.min(Math.floor((x - column.lower) * column.perUnit + column.shift), column.cells - 1);

function withDistortion(column, { kind, name: _, ...given }) {
  const { name, cells } = column;
  const needed = { clear: [], uniform: ["alpha"], gaussian: ["sigma"], laplace: ["epsilon"] };
  Object.assign(needed, { response: ["epsilon"], class: ["edges" in given ? "edges" : "width"] });
  if (!Object.hasOwn(needed, kind)) fail(`${name}: there is no distortion of this kind.`);
  const [parameter] = needed[kind];
  if (Object.keys(given).join() !== needed[kind].join()) fail(`${name}: ${kind} needs ${parameter ?? "nothing"}.`);
  if (kind !== "clear" && (kind === "response") !== Boolean(column.values)) fail(`${name}: ${kind} does not fit.`);
  if (kind !== "clear" && cells < 2) fail(`${name}: there is nothing to tell.`);
  const whole = (x) => Number.isSafeInteger(x) && x >= 1;
  let [margin, make] = [0, null];
  if (kind === "uniform") {
    margin = given.alpha;
    if (!whole(margin) || margin + cells > MOST_STEPS) fail(`${name}: alpha is out of range.`);
    make = () => uniformTable(margin);
  } else if (kind === "gaussian") {
    const sigma = fraction(given.sigma, name);
    if (sigma[0] * 10n < 3n * sigma[1] || sigma[0] > 131072n * sigma[1]) fail(`${name}: sigma is out of range.`);
    margin = Number(ceilDiv(5n * sigma[0], sigma[1]));
    if (margin + cells > MOST_STEPS) fail(`${name}: sigma is out of range.`);
    make = () => gaussianTable(sigma, cells - 1 + margin);
  } else if (kind === "laplace" || kind === "response") {
    const epsilon = fraction(given.epsilon, name);
    const fits = epsilon[0] > 0n && epsilon[0] <= LARGEST_EPSILON * epsilon[1];
    if (!fits || times(epsilon, NANO)[1] !== 1n) fail(`${name}: epsilon is out of range.`);
    make = () => (kind === "laplace" ? laplaceTable(epsilon, cells - 1) : responseTable(epsilon, cells));
  } else if (kind === "class") {
    const edges = given.edges ?? [];
    const grow = Array.isArray(edges) && edges.every((e, i) => whole(e) && e < cells && e > (edges[i - 1] ?? 0));
    const wide = given.edges ? edges.length > 0 : whole(given.width) && given.width < cells;
    if (!grow || !wide) fail(`${name}: the classes are out of range.`);
    const starts = given.edges ? [0, ...edges] : [];
    for (let cell = 0; !given.edges && cell < cells; cell += given.width) starts.push(cell);
    return { ...column, kind, given, bounds: [...starts, cells] };
  }
  let made = null;
  const table = make && (() => (made ??= make()));
  return { ...column, kind, given, margin, table };
}

/** The code of a true answer, or -1. Strictly: a number outside the range is not clamped. */
function codeOf(column, value, strict = true) {
  if (value === null || value === undefined) return column.missing;
  if (column.index) {
    let text = value;
    if (typeof value === "boolean") text = String(value);
    else if (typeof value === "bigint" || Number.isInteger(value)) text = BigInt(value).toString();
    else if (typeof value !== "string") throw new TypeError(`${column.name} is text, a whole number or a boolean`);
    if (text === column.marker) return column.missing;
    return column.index.get(text) ?? column.outside;
  }
  const x = typeof value === "bigint" ? Number(value) : value;
  if (typeof x !== "number") throw new TypeError(`${column.name} is a number`);
  if (Number.isNaN(x)) return column.missing;
  if ((strict || !column.clamp) && (x < column.lower || x > column.upper)) return -1;
  return cellOf(column, Math.min(Math.max(x, column.lower), column.upper));
}

const systemBytes = (count) => {
  const bytes = new Uint8Array(count);
  for (let i = 0; i < count; i += 65536) crypto.getRandomValues(bytes.subarray(i, i + 65536));
  return bytes;
};

/**
 * Distort a record, an object from column names to true answers, on this machine.
 *
 * @returns {{survey: string, answers: Object<string, number>}} what may be sent: codes, and the
 *   fingerprint of the survey. `randomBytes(count)` is replaced by tests only.
 */
export function distort(record, survey, randomBytes = systemBytes) {
  const codes = survey.columns.map((column) => {
    const code = codeOf(column, Object.hasOwn(record, column.name) ? record[column.name] : null);
    if (code < 0) fail(`${column.name}: the answer is missing or outside what is asked for. Nothing was sent.`);
    return code;
  });
  const bytes = randomBytes(16 * survey.columns.filter((column) => column.table).length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let place = 0;
  const answers = survey.columns.map((column, i) => {
    const code = codes[i];
    if (column.bounds) return [column.name, column.bounds.findLastIndex((bound) => bound <= code)];
    if (!column.table) return [column.name, code];
    const drawn = (view.getBigUint64(place, true) << 64n) | view.getBigUint64(place + 8, true);
    place += 16;
    const noise = outcome(column.table(), drawn);
    if (column.values) return [column.name, (code + noise) % column.cells];
    return [column.name, Math.min(Math.max(code + noise, 0 - column.margin), column.cells - 1 + column.margin)];
  });
  return { survey: survey.fingerprint, answers: Object.fromEntries(answers) };
}

/** What the codes of a distorted record stand for, in the units of the columns. */
export function show(record, survey) {
  if (record.survey !== survey.fingerprint) fail("the record was distorted under another survey.");
  const shown = survey.columns.map((column) => {
    const code = record.answers[column.name];
    if (column.bounds) return [column.name, classText(column, code)];
    if (column.values) return [column.name, column.values[code]];
    const edge = plus(column.start, times([BigInt(code), 1n], column.width));
    return [column.name, toDouble(column.step ? edge : plus(edge, times(column.width, [1n, 2n])))];
  });
  return Object.fromEntries(shown);
}

// --- what was sent is kept: a repeated question gets the same answer ---------------------------------

const keptUnder = (survey) => `bocage:${survey.fingerprint}`;

function kept(survey, storage) {
  const text = storage.getItem(keptUnder(survey));
  if (text === null || text === undefined) return {};
  try {
    const found = JSON.parse(text);
    if (found && typeof found === "object" && !Array.isArray(found)) return found;
  } catch {
    // told below
  }
  return fail("what was kept cannot be read. Nothing was sent: an answer would be drawn anew.");
}

/**
 * Distort a record once: the first answer stays, also if the true answers change. It is kept, without
 * the true answers, before it is returned.
 */
export function answerOnce(record, survey, { name = "me", storage = globalThis.localStorage, randomBytes } = {}) {
  const earlier = kept(survey, storage);
  if (!Object.hasOwn(earlier, name)) {
    const entries = [...Object.entries(earlier), [name, distort(record, survey, randomBytes).answers]];
    storage.setItem(keptUnder(survey), JSON.stringify(Object.fromEntries(entries)));
  }
  return { survey: survey.fingerprint, answers: kept(survey, storage)[name] };
}

/** Forget what was answered; returns the warning to show, or null if nothing was kept. */
export function startAnew(survey, { name = "me", storage = globalThis.localStorage } = {}) {
  const { [name]: gone, ...rest } = kept(survey, storage);
  if (gone === undefined) return null;
  storage.setItem(keptUnder(survey), JSON.stringify(rest));
  return (
    "The earlier answer is forgotten and a new one is drawn. Whoever has both can average the noise " +
    "away in part: together they tell more than one. Do not repeat this."
  );
}

// --- what is protected, in words ---------------------------------------------------------------------

const NORMAL = [1.3489795003921634, 3.919927969080107, 6.581053462983851]; // widths of the middle
const CONFIDENCES = [0.5, 0.95, 0.999];

/**
 * What is protected of each answer and of the whole record: `widths` of the interval at 50, 95 and
 * 99.9 % confidence, `percent` of the range, `epsilon` of local differential privacy or null, `words`.
 */
export function privacy(survey) {
  const answers = survey.columns.map(statement);
  const bare = answers.filter((answer) => answer.epsilon === null).map((answer) => answer.name);
  const sum = answers.reduce((total, { epsilon }) => plus(total, fraction(epsilon ?? 0, "epsilon")), [0n, 1n]);
  const epsilon = epsilonText(sum);
  let words =
    `The record as a whole: epsilon = ${epsilon} of local differential privacy, the sum over its answers.`;
  if (bare.length) {
    words = `The record as a whole: no local differential privacy, because there is none for ${bare.join(", ")}.`;
    if (sum[0] > 0n) words += ` The other answers together: epsilon = ${epsilon}.`;
  }
  return { answers, record: { epsilon: bare.length ? null : epsilon, words } };
}

function statement(column) {
  const { name, kind, cells, given } = column;
  if (kind === "clear") {
    const [widths, percent] = column.values ? [null, null] : [[0, 0, 0], 0];
    return { name, kind, widths, percent, epsilon: null, words: `${name}: sent as it is. Nothing protects this answer.` };
  }
  if (kind === "response") {
    const [truth] = column.table().thresholds;
    const lie = (WHOLE - truth) / BigInt(cells - 1);
    const [p, q] = [toDouble([truth, WHOLE]), toDouble([lie, WHOLE])].map((x) => figure(x));
    const others = cells > 2 ? `each of the ${cells - 1} others` : "the other one";
    const words =
      `${name}: the true answer is sent with probability ${p}, and ${others} with probability ${q}. ` +
      epsilonWords(given.epsilon);
    return { name, kind, widths: null, percent: null, epsilon: given.epsilon, words };
  }
  const unit = toDouble(column.width);
  const span = toDouble(over(column.range, column.width));
  const told = (steps) => [steps.map((step) => step * unit), (100 * steps[1]) / span];
  if (kind === "class") {
    const narrowest = Math.min(...column.bounds.slice(1).map((bound, i) => bound - column.bounds[i]));
    const [widths, percent] = told(CONFIDENCES.map((c) => c * narrowest));
    const words =
      `${name}: only the class is sent, such as ${classText(column, 0)}. The true value lies in it for ` +
      `certain; the narrowest class has the width ${figure(narrowest * unit)}, which at 95 % confidence ` +
      `is ${figure(percent)} % of the range. No local differential privacy.`;
    return { name, kind, widths, percent, epsilon: null, words };
  }
  if (kind === "uniform") {
    const [widths, percent] = told(CONFIDENCES.map((c) => 2 * given.alpha * c));
    const reach = figure(given.alpha * unit);
    const words =
      `${name}: a random number between -${reach} and ${reach} is added. ${intervalWords(widths, percent)} ` +
      "No local differential privacy: a number sent near an end of its range gives the true value away.";
    return { name, kind, widths, percent, epsilon: null, words };
  }
  if (kind === "gaussian") {
    const sigma = toDouble(fraction(given.sigma, name));
    const [widths, percent] = told(NORMAL.map((width) => width * sigma));
    const approximate = approximateEpsilon(column.table(), cells - 1);
    const guarantee =
      approximate === null
        ? "No local differential privacy."
        : `No pure local differential privacy; epsilon = ${figure(approximate)} except with probability 0.00001.`;
    const words =
      `${name}: a random number with standard deviation ${figure(sigma * unit)} is added. ` +
      `${intervalWords(widths, percent)} ${guarantee}`;
    return { name, kind, widths, percent, epsilon: null, approximate, words };
  }
  const scale = (cells - 1) / toDouble(fraction(given.epsilon, name));
  const [widths, percent] = told(CONFIDENCES.map((c) => -2 * scale * Math.log(1 - c)));
  const words =
    `${name}: a random number of mean size ${figure(scale * unit)} is added. ` +
    `${intervalWords(widths, percent)} ${epsilonWords(given.epsilon)}`;
  return { name, kind, widths, percent, epsilon: given.epsilon, words };
}

const intervalWords = (widths, percent) =>
  "By the noise alone the true value is known at 95 % confidence to an interval of width " +
  `${figure(widths[1])}, which is ${figure(percent)} % of the range.`;

const epsilonWords = (epsilon) =>
  `Local differential privacy with epsilon = ${epsilon}: whatever is sent, no true value makes it more ` +
  `than ${figure(Math.exp(toDouble(fraction(epsilon, "epsilon"))))} times as likely as another does.`;

/** The epsilon that holds except with probability 0.00001, from the tails of the table; or null. */
function approximateEpsilon({ thresholds }, steps) {
  const spare = WHOLE / 100000n;
  const tails = [...Array(steps + 1).fill(0n), ...thresholds.map((t) => WHOLE - t).reverse()];
  tails.push(...Array(steps + 1).fill(WHOLE));
  let [p, q] = [1n, 1n];
  for (let i = 0; i + steps < tails.length; i += 1) {
    const [far, near] = [tails[i], tails[i + steps]];
    if (near > spare && far === 0n) return null;
    if (near > spare && (near - spare) * q > far * p) [p, q] = [near - spare, far];
  }
  const epsilon = Math.log(toDouble([p, q]));
  return epsilon > Number(LARGEST_EPSILON) ? null : epsilon;
}

function classText(column, code) {
  const texts = column.bounds.slice(1).map((end, i) => {
    const edge = (cell) => figure(toDouble(plus(column.start, times([BigInt(cell), 1n], column.width))), 12);
    const first = edge(column.bounds[i]);
    return column.step ? `${first} to ${edge(end - 1)}` : `[${first}, ${edge(end)})`;
  });
  return new Set(texts).size < texts.length ? `class ${code + 1}` : texts[code];
}

/** A number with a few significant digits, written without exponent. */
function figure(x, count = 3) {
  if (x === 0) return "0";
  if (x < 0) return `-${figure(-x, count)}`;
  const [mantissa, exponent] = x.toExponential(count - 1).split("e");
  const [digits, e] = [mantissa.replace(".", ""), Number(exponent)];
  if (e >= count - 1) return digits.padEnd(e + 1, "0");
  const text = e < 0 ? `0.${"0".repeat(-e - 1)}${digits}` : `${digits.slice(0, e + 1)}.${digits.slice(e + 1)}`;
  return text.replace(/\.?0+$/, "");
}

function epsilonText(epsilon) {
  const nano = String(times(epsilon, NANO)[0]).padStart(10, "0");
  return `${nano.slice(0, -9)}.${nano.slice(-9)}`.replace(/\.?0+$/, "");
}

// --- models ------------------------------------------------------------------------------------------

/**
 * Read a model file of Bocage: the text of it, or the object in it. The model is applied here, on the
 * person's own machine.
 *
 * @returns {{labels: string[], predict: function(Object): string, predictProba: function(Object): number[]}}
 */
export function parseModel(file) {
  return reading(file, "model", model);
}

function model(document) {
  const known = ["bocage.tree", "bocage.forest"].includes(document?.format);
  if (!known || ![1, 2].includes(document.version)) fail("this is no model that this program knows.");
  const columns = document.schema.attributes.map(attribute);
  const labels = document.schema.target.values;
  const forest = document.format === "bocage.forest";
  const trees = (forest ? document.trees : [document]).map((nodes) => grown(nodes, columns, labels.length));
  const codes = (record) =>
    columns.map((c) => codeOf(c, Object.hasOwn(record, c.name) ? record[c.name] : null, false));
  const votes = (record) => {
    const given = codes(record);
    const sums = labels.map(() => 0);
    for (const tree of trees) {
      tree.votes(document.voting, reach(tree, given)).forEach((vote, i) => {
        sums[i] += vote;
      });
    }
    return sums;
  };
  const decide = (record) =>
    forest ? largest(votes(record)) : trees[0].label[reach(trees[0], codes(record))];
  return {
    labels: [...labels],
    predict: (record) => labels[decide(record)],
    predictProba: (record) => {
      if (!forest) return trees[0].shares(reach(trees[0], codes(record)));
      const sums = votes(record);
      return shares(sums, largest(sums));
    },
  };
}

/** Children follow from the order of the nodes: level by level, those of one node side by side. */
function grown({ column, threshold, label, counts }, columns, labels) {
  const first = [];
  const parent = [-1];
  column.forEach((tested, node) => {
    first.push(parent.length);
    const children = tested < 0 ? 0 : threshold[node] === -1 ? columns[tested].cells : 2;
    for (let i = 0; i < children; i += 1) parent.push(node);
  });
  const same = [threshold, label, counts].every((array) => array.length === column.length);
  const inside = label.every((l) => l >= 0 && l < labels) && first.every((f, n) => column[n] < 0 || f > n);
  if (parent.length !== column.length || !same || !inside) fail("the nodes of the model make no tree.");
  const below = counts.map((row) => (row ? [...row] : Array(labels).fill(0)));
  const counted = counts.map((row) => row !== null);
  for (let node = column.length - 1; node > 0; node -= 1) {
    const above = parent[node];
    if (!counts[above]) below[node].forEach((count, i) => (below[above][i] += count));
    counted[above] ||= counted[node];
  }
  const oneFor = (node, weight) => Array.from({ length: labels }, (_, i) => (i === label[node] ? weight : 0));
  return {
    column,
    threshold,
    first,
    label,
    votes(voting, node) {
      if (voting === "counts") return below[node];
      if (voting === "majority" || !counted[node]) return oneFor(node, 1);
      const own = shares(below[node], -1);
      return oneFor(node, Math.max(...own));
    },
    shares(node) {
      for (let at = node; at >= 0; at = parent[at]) {
        if (counts[at]?.some((count) => count > 0)) return shares(counts[at], label[node]);
      }
      return oneFor(node, 1);
    },
  };
}

/** The node that a record reaches; a code of -1 stops at the node that asks for it. */
function reach(tree, codes) {
  let node = 0;
  while (tree.column[node] >= 0) {
    const code = codes[tree.column[node]];
    if (code < 0) break;
    const cut = tree.threshold[node];
    // -1: a child for each value; below: one value, -2 - cut, and the rest; else a cut in two.
    if (cut === -1) node = tree.first[node] + code;
    else node = tree.first[node] + ((cut < 0 ? code === -2 - cut : code < cut) ? 0 : 1);
  }
  return node;
}

const largest = (numbers) => numbers.reduce((best, number, i) => (number > numbers[best] ? i : best), 0);

function shares(weights, decision) {
  const positive = weights.map((weight) => Math.max(weight, 0));
  const whole = positive.reduce((sum, weight) => sum + weight, 0);
  return positive.map((weight, i) => (whole > 0 ? weight / whole : i === decision ? 1 : 0));
}

// --- fingerprints ------------------------------------------------------------------------------------

/** The one way to write a document: sorted keys, no blanks, ASCII. Only whole numbers are known. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && typeof value === "object") {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) fail("the survey has a number that is not whole.");
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}

const ROOTS = [];
const FRACTIONS = [];
for (let n = 2n; ROOTS.length < 64; n += 1n) {
  let prime = true;
  for (let d = 2n; d * d <= n; d += 1n) if (n % d === 0n) prime = false;
  if (prime) {
    FRACTIONS.push(Number(root(n << 64n, 2n) & 0xffffffffn));
    ROOTS.push(Number(root(n << 96n, 3n) & 0xffffffffn));
  }
}

/** The whole part of a root, by halving. */
function root(n, degree) {
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= n) low = middle;
    else high = middle;
  }
  return low;
}

/** SHA-256 (FIPS 180-4) of ASCII text, in hexadecimal. */
function sha256(text) {
  const blocks = (text.length + 72) >> 6;
  const words = new Uint32Array(16 * blocks);
  for (let i = 0; i < text.length; i += 1) words[i >> 2] |= text.charCodeAt(i) << (24 - 8 * (i & 3));
  words[text.length >> 2] |= 0x80 << (24 - 8 * (text.length & 3));
  words[words.length - 2] = Math.floor(text.length / 2 ** 29);
  words[words.length - 1] = text.length << 3;
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  const state = Uint32Array.from(FRACTIONS.slice(0, 8));
  const w = new Uint32Array(64);
  for (let start = 0; start < words.length; start += 16) {
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t += 1) {
      if (t < 16) w[t] = words[start + t];
      else {
        const s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ (w[t - 15] >>> 3);
        const s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ (w[t - 2] >>> 10);
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
      }
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROOTS[t] + w[t];
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) >>> 0, c, b, a, (one + two) >>> 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
  }
  return Array.from(state, (value) => value.toString(16).padStart(8, "0")).join("");
}
