"""Table 1: the published values beside ours, and what the text says of them."""

from __future__ import annotations

from experiments.common.experiment import Settings
from experiments.common.report import Claim, Curve, Plot, Report, Target
from experiments.common.runner import Results
from experiments.jagannathan_2012.data import NOT_PRIVATE, prepared
from experiments.jagannathan_2012.literal_id3 import asked, counted, true_epsilon
from experiments.jagannathan_2012.table1 import (
    COUNTED,
    ERROR,
    FOLDS,
    FREQUENT,
    OURS,
    PARENT,
    PLAIN,
    STATED,
    TRUE,
)

LITERAL = 0.0  # the threshold that the words "empty" and "all the same" have
# The table as the paper has it. It counts 22 attributes of Mushroom, though section 6.1 says that one
# of them was removed.
PAPER = {"nursery": "nursery, 3 labels", "votes": "votes, imputed", "mushroom": "mushroom"}
WEKA = (
    "435 records, so a point is four of them; how Weka breaks ties and deals its folds is not known. "
    "With '?' as a value ID3 comes closer, see below."
)
UNSAID = (
    "folds vary by {deviation:.0f} points, so one cross-validation of ten has a standard error of "
    "{error:.0f}; how many the paper ran, and what it takes for empty, it does not say."
)


def report(results: Results, settings: Settings, expected: Settings) -> Report:
    run = {short: name for short, name in PAPER.items() if name in settings["data"]}
    return Report(
        "table1",
        "Table 1: private ID3 from sum queries",
        "Stratified 10-fold cross-validation, repeated; a repetition is one fold. The published "
        "value of private ID3 stands beside the literal reading: a node is empty if its noisy size "
        "is not positive, its leaf has the value Failure, and a record that ends there is an error. "
        "The budget is 0.5 as the paper counts the queries; what it really is stands below. "
        "Nursery has its two rarest labels merged into spec_prior: with three labels and 12,960 "
        "rows the most frequent one has 33.7 % at least, however they are merged.",
        results,
        targets=[t for short, name in run.items() for t in _targets(results, short, name, expected)],
        claims=_claims(results, run, expected),
        plots=[_plot(results, settings, short, name, expected) for short, name in run.items()],
        metrics=(ERROR, PARENT, "Failure", "nodes"),
        notes=[_table(results, settings), _remarks()],
    )


def _targets(results: Results, short: str, name: str, expected: Settings) -> list[Target]:
    paper, points = expected[short], expected["tolerance"]
    data = prepared(name)

    def measured(what: str, key: str, tolerance: float, explanation: str, **config: object) -> Target:
        values = results.values(ERROR, data=name, **config)
        deviation = float(values.std(ddof=1))
        return Target(
            f"{short}: {what}",
            paper[key],
            float(values.mean()),
            deviation / len(values) ** 0.5,
            tolerance,
            explanation.format(deviation=deviation, error=deviation / FOLDS**0.5),
        )

    return [
        Target(f"{short}: rows", paper["rows"], len(data), 0, 0),
        Target(f"{short}: queries", paper["queries"], counted(data.schema), 0, 0),
        measured("original ID3", "id3", points["plain"], WEKA, algorithm=PLAIN),
        measured("most frequent class", "frequent", points["frequent"], "", algorithm=FREQUENT),
        measured(
            "private ID3",
            "private",
            points["private"],
            UNSAID,
            algorithm=COUNTED,
            threshold=LITERAL,
        ),
    ]


def _claims(results: Results, run: dict[str, str], expected: Settings) -> list[Claim]:
    names = list(run.values())

    def average(metric: str, **config: object) -> float:
        return sum(results.mean(metric, data=name, **config) for name in names) / len(names)

    frequent = average(ERROR, algorithm=FREQUENT)
    literal = average(ERROR, algorithm=COUNTED, threshold=LITERAL)
    parent = average(PARENT, algorithm=COUNTED, threshold=LITERAL)
    ours = average(ERROR, algorithm=OURS)
    own = ", ".join(f"{short} {results.mean(ERROR, data=name, algorithm=OURS):.1f}" for short, name in run.items())
    spent = {short: float(true_epsilon(prepared(name).schema, STATED)) for short, name in run.items()}
    query = STATED / counted(prepared("mushroom").schema)
    return [
        Claim(
            "on average, private ID3 is not much more accurate than the most frequent class",
            literal - frequent < 5,
            f"average of {len(names)}: {literal:.1f} % against {frequent:.1f} %",
        ),
        Claim(
            "ID3 from low-level private queries has poor accuracy on many data sets",
            ours - frequent < 5,
            f"{parent:.1f} % if a Failure leaf takes its parent's label; {ours:.1f} % at a true 0.5 "
            f"with our learner ({own})",
            "a large part of the loss is the value Failure and thresholds below the noise, not the method",
        ),
        Claim(
            "the overall parameter is ε' = 0.5",
            all(value <= STATED for value in spent.values()),
            "; ".join(f"{short}: {value:.3g}" for short, value in spent.items()),
            "sizes and class counts of the nodes, two queries per level, are not counted",
        ),
        Claim(
            "on Mushroom ε is approximately 0.002 for each query",
            round(query, 3) == 0.002,
            f"0.5 / {counted(prepared('mushroom').schema)} = {query:.5f}",
        ),
        Claim(
            "the number of attributes is the maximum number of sequential queries",
            all(expected[short]["queries"] == len(prepared(n).schema.attributes) for short, n in run.items()),
            "; ".join(
                f"{short}: {len(prepared(n).schema.attributes)} attributes, "
                f"{expected[short]['queries']} in the table, {asked(prepared(n).schema)} asked"
                for short, n in run.items()
            ),
            "the table has k(k+1)/2: one per attribute that is left, per level",
        ),
    ]


def _table(results: Results, settings: Settings) -> str:
    """All readings, in percent."""
    about = (
        "Every reading, in percent (Failure as error / as the parent's label). *Counted* is a "
        "budget of 0.5 as the paper counts, with the true one beside it; *true* is 0.5 in all. "
        "The threshold of empty is in standard deviations of the noise."
    )
    lines = [
        about,
        "",
        "| data | queries counted / asked | true ε | ID3 | most frequent "
        + "".join(f"| counted, {t:g} " for t in settings["thresholds"])
        + "".join(f"| true, {t:g} " for t in settings["thresholds"])
        + "| true, ours |",
        "|---|---:|---:|" + "---:|" * (3 + 2 * len(settings["thresholds"])),
    ]
    for name in settings["data"]:
        schema = prepared(name).schema
        cells = [f"{name}{' †' if name in NOT_PRIVATE else ''}"]
        cells += [
            f"{counted(schema)} / {asked(schema)}",
            f"{float(true_epsilon(schema, STATED)):.3f}",
        ]
        cells.append(_pair(results, data=name, algorithm=PLAIN))
        cells.append(f"{results.mean(ERROR, data=name, algorithm=FREQUENT):.1f}")
        cells += [
            _pair(results, data=name, algorithm=algorithm, threshold=threshold)
            for algorithm in (COUNTED, TRUE)
            for threshold in settings["thresholds"]
        ]
        cells.append(f"{results.mean(ERROR, data=name, algorithm=OURS):.1f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _pair(results: Results, **config: object) -> str:
    return " / ".join(f"{results.mean(metric, **config):.1f}" for metric in (ERROR, PARENT))


def _remarks() -> str:
    return (
        "† The paper's way with missing values, which is not private: a majority vote and the choice "
        "of an attribute read the records (all of them, test folds included), and no budget pays for "
        "it. In the rows without † a missing value is a value of its own. *Ours* stops at one "
        "standard deviation, gives what a path has left to its leaf, and has no Failure."
    )


def _plot(results: Results, settings: Settings, short: str, name: str, expected: Settings) -> Plot:
    x = settings["thresholds"]
    flat = {PLAIN: "ID3, not private", FREQUENT: FREQUENT, OURS: "ours, true ε 0.5"}
    curves = [
        Curve("Failure: error", [LITERAL], [expected[short]["private"]], published=True),
        *(
            Curve(
                label,
                x,
                [results.mean(metric, data=name, algorithm=COUNTED, threshold=t) for t in x],
                [results.error(metric, data=name, algorithm=COUNTED, threshold=t) for t in x],
            )
            for metric, label in ((ERROR, "Failure: error"), (PARENT, "Failure: parent's label"))
        ),
        *(
            Curve(label, x, [results.mean(ERROR, data=name, algorithm=a)] * len(x), dashed=True)
            for a, label in flat.items()
        ),
    ]
    return Plot(
        f"table1-{short}",
        f"Table 1, {name}: private ID3, ε' = 0.5 as counted",
        "a node is empty up to so many standard deviations of the noise",
        "accuracy, %",
        curves,
    )
