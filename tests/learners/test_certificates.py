"""A certificate lists what was released, by a spy on the noise provider, and no more than was charged."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from bocage import Schema, study
from bocage.accounting import MemoryAccount
from bocage.demo.people import make_people, write_people
from bocage.epsilon import Epsilon
from bocage.learners import LEARNERS, DiffPC45, DiffPID3
from bocage.mechanisms import SystemNoise
from bocage.model import from_dict
from bocage.private import Count, Counts
from bocage.private.table import WHOLE, PrivateTable
from bocage.private.tables.consistent_counts import ConsistentCounts
from bocage.private.transcript import Transcript
from learners.spy import Recorder, SpyExecutor

ONCE = Fraction(1, 10**9)  # an epsilon is rounded up to that, once for each line
CATEGORICAL = ("sex", "region", "education", "work")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A spied table of so many made-up people, and what it may spend."""

    def made(size):
        directory = tmp_path_factory.mktemp("people")
        write_people(make_people(size), directory)
        schema = Schema.read(directory / "people.toml")
        executor = study(directory / "people.parquet", schema)._executor
        spied = SpyExecutor(executor.terms, executor.engine, Recorder(SystemNoise()), has_ledger=True)
        return spied, MemoryAccount.of(Epsilon.of(100), number=7)

    return made


def learner(name):
    kind = LEARNERS[name]
    return kind() if kind.numeric else kind(attributes=CATEGORICAL)


def used_by_records(executor):
    """What all releases used on each of many records, whether or not they are in the table."""
    random, schema = Random(1), executor.terms.schema  # noqa: S311 - records for a test
    return [executor.used_by({column.name: random.randrange(column.cells) for column in schema}) for _ in range(300)]


CASES = [
    *((name, 300, "0.5") for name in LEARNERS),
    *((name, 2000, "1") for name in LEARNERS),
    *((name, 20_000, "1") for name in ("auto", "readable", "bayes", "additive", "scorecard", "rdt")),
]


@pytest.mark.parametrize(("name", "size", "epsilon"), CASES)
def test_a_certificate_lists_exactly_what_was_released(people, name, size, epsilon):
    executor, account = people(size)
    model = learner(name).fit(PrivateTable(executor, account, WHOLE), epsilon)
    certificate, charged = model.certificate, Epsilon.of(epsilon)
    # Asked is charged, and what is charged covers what the mechanisms used.
    assert account.spent() == charged == Epsilon.of(certificate.epsilon)
    assert certificate.entry == 7
    used = used_by_records(executor)
    assert max(used) <= charged.fraction
    slack = ONCE * len(certificate.plan)
    assert max(used) <= certificate.used.fraction <= max(used) + slack
    assert certificate.used <= charged
    # Every release has its line, and every line its releases.
    assert {line.question for line in certificate.plan} == {d.query.words() for d in executor.draws}
    if not any(line.within for line in certificate.plan):
        spied, listed = Counter(), Counter()
        for draw in executor.draws:
            cells = range(draw.cells.count)
            spied[draw.query.words()] += max(draw.used(cell, executor.terms) for cell in cells)
        for line in certificate.plan:
            listed[line.question] += line.cost.fraction
        for question, amount in listed.items():
            assert spied[question] <= amount <= spied[question] + slack
    # And it survives the file.
    assert from_dict(model.to_dict()).certificate == certificate


@pytest.mark.parametrize("kind", [DiffPID3, DiffPC45])
def test_what_is_charged_and_not_used_is_said(people, kind):
    executor, account = people(300)
    own = kind(printed=True, depth=2, attributes=CATEGORICAL)
    certificate = own.fit(PrivateTable(executor, account, WHOLE), "1").certificate
    assert certificate.used < Epsilon.of(1)
    assert max(used_by_records(executor)) <= certificate.used.fraction
    said = certificate.statement()
    assert f"Charged was epsilon = 1, of which {certificate.used} was used" in said
    assert "What is charged counts" in said


def test_a_release_that_is_not_written_down_is_noticed(people, monkeypatch):
    write = Transcript.write
    forgotten = lambda self, asked, *more: (  # noqa: E731 - what is broken here
        None if isinstance(asked, ConsistentCounts) else write(self, asked, *more)
    )
    monkeypatch.setattr(Transcript, "write", forgotten)
    executor, account = people(300)
    certificate = learner("bayes").fit(PrivateTable(executor, account, WHOLE), "1").certificate
    assert certificate.used.fraction < max(used_by_records(executor))


def test_dry_runs_and_shares_of_a_reservation_have_one_transcript(people):
    executor, account = people(300)
    level = PrivateTable(executor, account, WHOLE).reserve(1, "two shares")
    first, second = level.share("first", Epsilon.of("0.25")), level.share("rest", Epsilon.of("0.5"))
    first.ask(Count(Epsilon.of("0.125")))
    first.ask(Count(Epsilon.of("0.125")))
    parts = second.split([("sex", None)]).group({"f": [0], "m": [1]})
    parts["f"].ask(Count(Epsilon.of("0.5")))
    parts["m"].ask(Count(Epsilon.of("0.3")))
    lines = level.transcript.lines()
    assert [(line.epsilon, line.queries, line.within) for line in lines] == [
        ("0.25", 2, ()),
        ("0.5", 1, (1, 1)),
        ("0.3", 1, (1, 2)),
    ]
    assert [line.level for line in lines] == [0, 1, 1]
    certificate = replace(learner("rdt").fit(PrivateTable(executor, account, WHOLE), "1").certificate, plan=lines)
    assert str(certificate.used) == "0.75"
    assert "in part 1.2" in certificate.statement()


def test_questions_of_several_threads_are_all_listed(people):
    executor, account = people(300)
    level = PrivateTable(executor, account, WHOLE).reserve("1.6", "threads")
    share = Epsilon.of("0.1")
    paths = level.paths(Epsilon.of("0.8"))
    counts, count = Counts(("sex",), share, each=(share,)), Count(share)
    asks = [lambda: paths.ask(counts), lambda: level.ask(count)] * 8
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(ask) for ask in asks]:
            done.result()
    assert sum(line.cost.fraction for line in level.transcript.lines()) == Fraction("1.6")
    assert paths.purses() == [Epsilon(0)]
