// Meets test vectors with the module: node check.mjs MODULE VECTORS
import { readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import { deepStrictEqual } from "node:assert";

const [, , module, file] = process.argv;
const { parseSurvey, distort, show, privacy } = await import(pathToFileURL(module));
let met = 0;
for (const { survey: document, tables, words, whole, cases } of JSON.parse(readFileSync(file, "utf8"))) {
  const survey = parseSurvey(JSON.stringify(document));
  const noisy = survey.columns.filter((column) => column.table);
  const hashes = noisy.map((column) =>
    createHash("sha256").update(column.table().thresholds.join(",")).digest("hex"),
  );
  deepStrictEqual(hashes, tables);
  const stated = privacy(survey);
  deepStrictEqual(stated.answers.map((answer) => answer.words), words);
  deepStrictEqual(stated.record.words, whole);
  for (const { record, bytes, sent, shown } of cases) {
    const drawn = Uint8Array.from(Buffer.from(bytes, "hex"));
    const found = distort(record, survey, (count) => {
      deepStrictEqual(count, drawn.length);
      return drawn;
    });
    deepStrictEqual(found, sent);
    deepStrictEqual(show(found, survey), shown);
    met += 1;
  }
}
console.log(met);
