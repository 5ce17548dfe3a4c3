"""Many clients ask at once while worker processes are killed; then the books are checked.

Shared by a test and a benchmark.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import psutil
from running import Made, Running

import bocage
from bocage.accounting import Action, Scope, open_ledger
from bocage.errors import BocageError, BudgetExceeded
from bocage.learners import RandomTrees
from servers import wait_until

MOST_REQUESTS = 5000  # of one client, who waits for kills
FOREST = RandomTrees(trees=2, height=1, rows=16, attributes=("sex",))


@dataclass
class Seen:
    """What one client got: answers that were released, and errors by their names."""

    analyst: str
    answers: list = field(default_factory=list)
    models: list = field(default_factory=list)
    errors: Counter = field(default_factory=Counter)
    jobs: int = 0


@dataclass(frozen=True)
class Storm:
    """A storm that is over."""

    seen: list[Seen]
    kills: int
    seconds: float


def storm(
    made: Made,
    requests: int,
    clients: int,
    *,
    workers: int = 2,
    kills_at_least: int = 0,
    most_kills: int = 1000,
) -> Storm:
    """Send `requests` mixed requests from `clients` clients, killing workers all the time.

    Where that takes less time than the first `kills_at_least` kills, clients go on until these.
    """
    keys = {f"ann{i}": made.analyst(f"ann{i}", "1000") for i in range(clients)}
    service = Running(made, workers=workers, warm_up=True, jobs_per_analyst=1000)
    over, kills = threading.Event(), []
    try:
        service.wait()
        wait_until(lambda: _started(service) == workers, seconds=120)
        killer = threading.Thread(target=_kill, args=(service, over, kills, most_kills))
        killer.start()
        started = time.monotonic()
        with ThreadPoolExecutor(clients) as pool:
            shares = [requests // clients + (i < requests % clients) for i in range(clients)]
            work = [
                pool.submit(_client, service.url, name, key, share, lambda: len(kills) < kills_at_least)
                for (name, key), share in zip(keys.items(), shares, strict=True)
            ]
            seen = [one.result() for one in work]
        seconds = time.monotonic() - started
        over.set()
        killer.join()
        _nobody_is_locked_out(service.url, keys)
    finally:
        over.set()
        service.stop()
    return Storm(seen, len(kills), seconds)


def _kill(service: Running, over: threading.Event, kills: list, most: int) -> None:
    """Kill a worker that is at work now and then, whichever it is and whatever it is doing.

    The only one that is ready is mostly spared: where workers start slowly, nothing would ever be
    done.
    """
    while len(kills) < most and not over.wait(random.uniform(0.2, 2)):  # noqa: S311 - no secret
        with suppress(psutil.Error):
            children = psutil.Process(service.process.pid).children()
            busy = [child for child in children if _at_work(child)]
            spared = _started(service) - len(kills) < 2 and random.random() < 0.9  # noqa: S311 - no secret
            if busy and not spared:
                victim = random.choice(busy)  # noqa: S311 - no secret
                victim.kill()
                kills.append(victim.pid)


def _started(service: Running) -> int:
    """How many workers have ever been ready."""
    return service.log.read_text().count("Application startup complete")


def _at_work(child: psutil.Process) -> bool:
    """Whether clients are connected: a worker that still starts has nothing to lose."""
    return any(one.status == "ESTABLISHED" for one in child.net_connections("tcp"))


def _client(url: str, name: str, key: str, requests: int, goes_on) -> Seen:
    seen, luck = Seen(name), random.Random()  # noqa: S311 - no secret
    with bocage.connect(url, key, timeout_seconds=60, patience_seconds=600) as connection:
        table = connection["people"]
        done = 0
        while done < requests or (goes_on() and done < MOST_REQUESTS):
            done += 1
            try:
                _ask(connection, table, luck.random(), seen)
            except BocageError as error:
                seen.errors[type(error).__name__] += 1
    return seen


def _ask(connection, table, dice: float, seen: Seen) -> None:
    if dice < 0.5:
        seen.answers.append(table.noisy_count("0.001", fresh=True))
    elif dice < 0.65:
        part = table.partition("city")["Nice"]
        seen.answers.append(part.where("age < 5").noisy_count("0.002", fresh=True))
    elif dice < 0.75:
        seen.answers.append(table.where("sex = 'F'").noisy_count("0.01"))  # once, then stored
    elif dice < 0.8:
        seen.answers.append(table.choose(["sex", "city"], "gini", "0.004", fresh=True))
    elif dice < 0.85:
        seen.answers.append(table.partition("sex").noisy_avg("age", "0.008", fresh=True))
    elif dice < 0.93:
        connection.me()
    elif dice < 0.98:
        try:
            table.noisy_count(5000)
        except BudgetExceeded:
            return
        raise AssertionError("a charge over the budget was accepted")
    else:
        seen.jobs += 1
        seen.models.append(FOREST.fit(table, "0.016", lambda done, of: None))


def _nobody_is_locked_out(url: str, keys: dict[str, str]) -> None:
    for key in keys.values():
        with bocage.connect(url, key, patience_seconds=120) as connection:
            assert connection["people"].where("age < 3").noisy_count("0.032").value is not None


def check(made: Made, after: Storm) -> dict[str, int]:
    """Everything that was released is in the ledger, paid for once; the ledger verifies."""
    with open_ledger(made.path / "ledger.sqlite") as ledger:
        assert ledger.verify().ok
        entries = {entry.number: entry for entry in ledger.entries(Scope.table("people"))}
    charges = [entry for entry in entries.values() if entry.action is Action.CHARGE]
    made_once = Counter((entry.scope, entry.request) for entry in charges if entry.request)
    assert max(made_once.values()) == 1
    values: dict[int, tuple] = {}
    for seen in after.seen:
        paid = {answer.entry for answer in seen.answers} | {model.certificate.entry for model in seen.models}
        for answer in seen.answers:
            entry = entries[answer.entry]
            assert entry.action is Action.CHARGE
            assert entry.scope[:2] == ("people", seen.analyst)
            assert answer.cost in {"0", str(entry.epsilon)}
            # one charge, one draw: whoever is shown this entry is shown these values
            assert values.setdefault(answer.entry, answer.values) == answer.values
        fresh = [answer.entry for answer in seen.answers if answer.kind == "release"]
        assert len(fresh) == len(set(fresh))
        for model in seen.models:
            assert str(entries[model.certificate.entry].epsilon) == model.certificate.epsilon
        own = {entry.number for entry in charges if entry.scope[:2] == ("people", seen.analyst)}
        # Charges without an answer: the question after the storm, and jobs whose worker died after
        # their charge. A job whose worker died before it has cost nothing.
        lost = own - paid
        assert 1 <= len(lost) <= 1 + seen.jobs - len(seen.models), (len(lost), seen.jobs)
    return {
        "answers": len(values),
        "charges": len(charges),
        "models": sum(len(seen.models) for seen in after.seen),
        "lost jobs": sum(seen.jobs - len(seen.models) for seen in after.seen),
        "kills": after.kills,
    }
