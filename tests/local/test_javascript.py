"""The person's side in JavaScript does what Python does, bit by bit, in Node and in a browser."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import sync_playwright

from bocage.epsilon import Epsilon
from bocage.errors import SurveyError
from bocage.local import Laplace, RandomizedResponse, Records, Survey
from bocage.local.documents import digest
from bocage.model import to_dict
from bocage.schema import Categorical, Numeric, Schema
from local.surveys import ROW, SURVEY, from_bytes
from local.vectors import GOLDEN, vector, vectors
from model.conftest import Node
from models import models, prediction_of, records, table_of

MODULE = Path(str(files("bocage.local") / "bocage-local.mjs"))
CHECK = Path(__file__).with_name("check.mjs")


@pytest.fixture(scope="module")
def node():
    process = Node()
    yield process
    process.close()


def run(program: str, *arguments: object) -> str:
    """The output of a program in Node that has imported everything."""
    given_in = f"import * as local from {json.dumps(MODULE.as_uri())};\n{program}"
    done = subprocess.run(
        [_node(), "--input-type=module", "-e", given_in, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _node() -> str:
    program = shutil.which("node")
    assert program, "these tests need Node: apt-get install nodejs"
    return program


def met(path: Path) -> int:
    done = subprocess.run([_node(), CHECK, MODULE, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_python_meets_the_vectors_of_the_repository():
    for known in json.loads(GOLDEN.read_text(encoding="utf-8")):
        survey = Survey.from_dict(known["survey"])
        assert [statement.words for statement in survey.privacy()] == known["words"]
        for case in known["cases"]:
            source = from_bytes(bytes.fromhex(case["bytes"]))
            rows = {name: [value] for name, value in case["record"].items()}
            assert Records.distort(survey, rows, source).to_documents() == [case["sent"]]


def test_javascript_meets_the_vectors_of_the_repository():
    assert met(GOLDEN) == 48


def test_javascript_meets_vectors_that_are_new_today(tmp_path):
    made = vectors(2024, 40, 3)
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    assert met(path) == 120


def test_both_sides_agree_on_the_finest_grids(tmp_path):
    schema = Schema(
        "fine",
        (
            Numeric("a", 0, 65535, step=1),
            Numeric("b", 0, 1, cells=65536),
            Categorical("c", tuple(map(str, range(3000)))),
        ),
    )
    survey = Survey(
        schema,
        {
            "a": Laplace(Epsilon.of("0.000000001")),
            "b": Laplace(Epsilon.of(64)),
            "c": RandomizedResponse(Epsilon.of(64)),
        },
    )
    rows = [{"a": 65535, "b": 0.999, "c": "2999"}, {"a": 0, "b": 0, "c": "0"}]
    path = tmp_path / "vectors.json"
    path.write_text(json.dumps([vector(survey, rows, random.Random(3))]))  # noqa: S311 - test cases
    assert met(path) == 2


def test_a_record_made_in_javascript_is_read_in_python(tmp_path):
    SURVEY.save(tmp_path / "survey.json")
    text = run(
        """
        import { readFileSync } from "node:fs";
        const survey = local.parseSurvey(readFileSync(process.argv[1], "utf8"));
        const record = JSON.parse(process.argv[2]);
        console.log(JSON.stringify(Array.from({ length: 50 }, () => local.distort(record, survey))));
        """,
        tmp_path / "survey.json",
        json.dumps(ROW),
    )
    found = Records.from_documents(SURVEY, json.loads(text))
    assert len(found) == 50
    # Noise of scale 50 on 101 cells: 50 draws are all equal with probability below 0.51**49 = 5e-15.
    assert len(set(found.codes["age"].tolist())) > 1
    assert set(found.codes["town"].tolist()) == {1}


REFUSE = """
const refused = (given) => {
  try { local.parseSurvey(given); return "taken"; }
  catch (error) { return error instanceof local.SurveyError ? "refused" : String(error); }
};
console.log(JSON.stringify(JSON.parse(process.argv[1]).map(refused)));
"""


def test_surveys_that_python_refuses_are_refused_in_javascript():
    whole = SURVEY.to_dict()
    entry = whole["distortions"][0]
    bad = [
        *(None, 5, "x", "{", [], {}),
        *({**whole, key: value} for key in whole for value in (None, 3.5, "x", [], {}, [None])),
        _signed(whole, distortions=[*whole["distortions"], entry]),
        _signed(whole, distortions=whole["distortions"][1:]),
        _signed(whole, distortions=[{**entry, "epsilon": "65"}, *whole["distortions"][1:]]),
        _signed(whole, distortions=[{**entry, "epsilon": "0"}, *whole["distortions"][1:]]),
        _signed(whole, distortions=[{**entry, "epsilon": "1e-3"}, *whole["distortions"][1:]]),
        _signed(
            whole,
            distortions=[{"name": "age", "kind": "laplace"}, *whole["distortions"][1:]],
        ),
        _signed(
            whole,
            distortions=[{"name": "age", "kind": "uniform", "alpha": 0}, *whole["distortions"][1:]],
        ),
        _signed(
            whole,
            distortions=[{"name": "age", "kind": "rot13", "by": 13}, *whole["distortions"][1:]],
        ),
    ]
    answers = json.loads(run(REFUSE, json.dumps([*bad, whole])))
    assert set(answers[:-1]) == {"refused"}
    assert answers[-1] == "taken"
    for document in bad:
        with pytest.raises(SurveyError):
            Survey.from_dict(document)


def _signed(document: dict, **changes: object) -> dict:
    """A survey with a fingerprint that is right, so that the content itself must be refused."""
    content = {k: v for k, v in {**document, **changes}.items() if k != "fingerprint"}
    return {**content, "fingerprint": digest(content)}


@pytest.mark.parametrize(
    ("name", "value"),
    [("age", -1), ("age", 101), ("salary", None), ("town", "west"), ("age", "34"), ("town", 1.5)],
)
def test_an_answer_outside_the_survey_is_refused_in_javascript(name, value):
    text = run(
        """
        const [survey, record] = process.argv.slice(1).map((text) => JSON.parse(text));
        try { local.distort(record, local.parseSurvey(survey)); console.log("taken"); }
        catch (error) { console.log(error.message); }
        """,
        json.dumps(SURVEY.to_dict()),
        json.dumps({**ROW, name: value}),
    )
    assert text.startswith(name)


KEEP = """
const [document, record] = process.argv.slice(1).map((text) => JSON.parse(text));
const survey = local.parseSurvey(document);
const map = new Map();
const storage = { getItem: (k) => map.get(k) ?? null, setItem: (k, v) => map.set(k, v) };
const once = (given, name) => JSON.stringify(local.answerOnce(given, survey, { storage, name }));
const first = once(record);
const again = Array.from({ length: 20 }, () => once(record));
const changed = once({ ...record, town: "north" });
const warning = local.startAnew(survey, { storage });
const nothing = local.startAnew(survey, { storage, name: "you" });
const anew = once({ ...record, town: "north" });
map.set(`bocage:${survey.fingerprint}`, "broken");
let broken = "";
try { once(record); } catch (error) { broken = error.message; }
console.log(JSON.stringify({ first, again, changed, warning, nothing, anew, broken }));
"""


def test_a_repeated_question_gets_the_same_answer_in_javascript():
    found = json.loads(run(KEEP, json.dumps(SURVEY.to_dict()), json.dumps(ROW)))
    assert set(found["again"]) == {found["first"]} == {found["changed"]}
    assert "average" in found["warning"]
    assert found["nothing"] is None
    assert json.loads(found["anew"])["answers"]["town"] == 0
    assert "Nothing was sent" in found["broken"]


@settings(max_examples=40)
@given(model=models(), data=st.data())
def test_a_model_file_predicts_the_same_in_javascript(node, model, data):
    rows = data.draw(records(model.schema))
    text = json.dumps(json.dumps(to_dict(model)))
    shipped = f"{MODULE.read_text(encoding='utf-8')}\nconst made = parseModel({text});\n"
    shipped += "export const predict = made.predict, predictProba = made.predictProba;\n"
    answers = node.run(shipped, rows)
    assert [label for label, _ in answers] == [prediction_of(model, row) for row in rows]
    expected = model.predict_proba(table_of(model.schema, rows))
    assert [shares for _, shares in answers] == expected.tolist()


def test_what_is_no_model_is_refused_in_javascript():
    tree = '{"format":"bocage.tree","version":1}'
    for text in ("x", "{}", tree, '{"format":"bocage.tree","version":3}'):
        run(
            """
            try { local.parseModel(process.argv[1]); process.exit(1); }
            catch (error) { if (!(error instanceof local.SurveyError)) process.exit(2); }
            """,
            text,
        )


def test_the_module_depends_on_nothing_and_builds_no_code():
    text = MODULE.read_text(encoding="utf-8")
    for word in ("import ", "import(", "require(", "eval", "new Function", "fetch(", "XMLHttp"):
        assert word not in text
    assert text.isascii()


PAGE = """<!doctype html><title>Survey</title><script type="module" src="page.mjs"></script>"""
SCRIPT = """
import { parseSurvey, answerOnce, privacy } from "./bocage-local.mjs";
const survey = parseSurvey(await (await fetch("survey.json")).text());
const record = await (await fetch("record.json")).json();
const sent = [answerOnce(record, survey), answerOnce(record, survey)];
document.title = JSON.stringify({ sent, words: privacy(survey).record.words });
"""


class Strict(SimpleHTTPRequestHandler):
    """Serves files under a policy that allows no inline script and no code from text."""

    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}  # noqa: RUF012 - as the parent has it

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _title(url):
    """What a page writes into its title, as JSON."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(url)
        for _ in range(600):  # asked from here: the page's policy forbids a predicate over there
            if page.title().startswith("{"):
                break
            page.wait_for_timeout(100)
        found = json.loads(page.title())
        browser.close()
    return found


@pytest.mark.browser
def test_a_browser_distorts_under_a_strict_policy(tmp_path):
    shutil.copy(MODULE, tmp_path)
    SURVEY.save(tmp_path / "survey.json")
    (tmp_path / "record.json").write_text(json.dumps(ROW))
    (tmp_path / "index.html").write_text(PAGE)
    (tmp_path / "page.mjs").write_text(SCRIPT)
    handler = partial(Strict, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with ThreadPoolExecutor(1) as pool:  # this thread may have another browser's loop
            found = pool.submit(_title, f"http://127.0.0.1:{server.server_port}/index.html").result()
        server.shutdown()
    one, again = found["sent"]
    assert one == again
    assert len(Records.from_documents(SURVEY, [one])) == 1
    assert found["words"] == SURVEY.record_privacy().words
