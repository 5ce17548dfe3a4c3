"""One question from a request: admitted, charged once under its key, answered."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING

from bocage.accounting import Entry
from bocage.errors import LedgerError, PlanError, RequestConflict
from bocage.model import Released, from_dict
from bocage.model.export.json import parse
from bocage.private import Answer, Kind, PrivatePartition
from bocage.service.core import documents as wire
from bocage.service.core import plans
from bocage.service.core.accounts import Admission, Answered, shielded

if TYPE_CHECKING:
    from bocage.service.core.service import Service


def query(
    service: Service,
    analyst: str,
    table: str,
    request: wire.QueryRequest,
    key: str | None,
    *,
    grant: str | None = None,
) -> Answer:
    """Answer one question, as the mode says.

    Privacy
    -------
    The order is admission, charge, data. Under an idempotency key the ledger makes the charge once
    and one draw of noise is ever released: a repeated request finds what was kept. A key that is used
    for new noise has a charge of its own, however long ago it paid for the question itself.
    """
    if request.mode == "release":
        return _release(service, analyst, table, request, key, grant=grant)
    whole, _ = service.tables.asked_by(analyst, table)
    steps = expand(service, analyst, table, request.plan)
    find = finder(service, analyst)
    if request.mode == "preview":
        priced = whole.preview(rows=request.rows)
        return plans.ask(plans.resolve(priced, steps, find), request.ask, fresh=request.fresh)
    with whole.dry_run(rows=dry_rows(service, request.rows)) as made_up:
        return plans.ask(plans.resolve(made_up, steps, find), request.ask, fresh=request.fresh)


def _release(
    service: Service,
    analyst: str,
    table: str,
    request: wire.QueryRequest,
    key: str | None,
    *,
    grant: str | None,
) -> Answer:
    digest = digest_of(table, request)
    fresh = request.fresh or service.tables.is_moving(table)  # then no answer is about now
    once = f"fresh {key}" if fresh and key is not None else key  # no key has a space
    admission = Admission(once, keep=fresh and key is not None)
    whole, account = service.tables.charged_by(analyst, table, admission, grant)
    if key is not None:
        service.records.bind(analyst, key, digest)
    steps = expand(service, analyst, table, request.plan)
    here = plans.resolve(whole, steps, finder(service, analyst))
    with shielded(admission):
        try:
            answer = plans.ask(here, request.ask, fresh=request.fresh)
            left = answer.remaining
        except Answered:
            left = str(account.remaining())
        except LedgerError as error:
            raise conflict_of(error) from None
        if admission.kept is not None:
            answer = Answer.from_json(admission.kept).as_kind(Kind.RELEASE, remaining=left)
    if answer.kind is Kind.STORED and key is not None:
        answer = _own(service, answer, key)
    return answer


def _own(service: Service, answer: Answer, key: str) -> Answer:
    """A stored answer that this very request paid for is shown as it was released."""
    paid = entry_of(service, answer.entry)
    if paid is None or paid.request != key:
        return answer
    return answer.as_kind(Kind.RELEASE, cost=str(paid.epsilon))


def entry_of(service: Service, number: int | None) -> Entry | None:
    if number is None:
        return None
    found = service.tables.ledger.entries(after=number - 1, limit=1)
    return found[0] if found else None


def conflict_of(error: LedgerError) -> Exception:
    """The ledger's refusal of a key that it knows with another charge."""
    if type(error) is LedgerError and "was made before" in str(error):
        return RequestConflict(
            "this idempotency key stands for another request. Nothing was charged."
        )
    return error


def balance(
    service: Service, analyst: str, table: str, request: wire.BalanceRequest
) -> wire.BalanceDocument:
    """The account of a table or one of its parts."""
    whole, _ = service.tables.asked_by(analyst, table)
    steps = expand(service, analyst, table, request.plan)
    here = plans.resolve(whole, steps, finder(service, analyst))
    if isinstance(here, PrivatePartition):
        raise PlanError("a partition has no account of its own; each of its parts has.")
    return wire.BalanceDocument(spent=str(here.spent()), remaining=str(here.remaining()))


def keep_partition(
    service: Service, analyst: str, table: str, request: wire.PartitionRequest
) -> wire.PartitionDocument:
    """Keep a plan that ends in a partition. It costs nothing and lasts."""
    steps = expand(service, analyst, table, request.plan)
    keys = partition_keys(service, analyst, table, steps)
    most = service.settings.handles_per_analyst
    plan = [step.model_dump(exclude_none=True) for step in steps]
    handle = service.records.keep_handle(analyst, table, plan, most)
    return wire.PartitionDocument(handle=handle.id, table=table, plan=list(steps), keys=keys)


def partition_keys(service: Service, analyst: str, table: str, steps: list[wire.Step]) -> list[str]:
    whole, _ = service.tables.asked_by(analyst, table)
    here = plans.resolve(whole, steps, finder(service, analyst))
    if not isinstance(here, PrivatePartition):
        raise PlanError("the plan of a kept partition ends in a partition.")
    return list(here.keys())


def expand(service: Service, analyst: str, table: str, steps: list[wire.Step]) -> list[wire.Step]:
    """The steps with a kept partition written out, if they begin with one."""
    if not steps or not isinstance(steps[0], wire.HandleStep):
        return steps
    kept = service.records.handle(analyst, steps[0].handle)
    if kept.table != table:
        raise PlanError("the partition was kept for another table.")
    stored = wire.PartitionRequest.model_validate({"plan": kept.plan}).plan
    whole = [*stored, *steps[1:]]
    if len(whole) > wire.MOST_STEPS:
        raise PlanError(f"a plan has at most {wire.MOST_STEPS} steps.")
    return whole


def finder(service: Service, analyst: str) -> plans.FindModel:
    def find(model: str) -> Released:
        return load_model(service, analyst, model)

    return find


def load_model(service: Service, analyst: str, model: str) -> Released:
    """A model of this analyst, if its table is open to them."""
    kept, body = service.records.model(analyst, model)
    service.tables.require_open(analyst, kept.table)
    return from_dict(parse(body))


def dry_rows(service: Service, asked: int | None) -> int:
    most = service.settings.dry_run_rows
    if asked is not None and asked > most:
        raise PlanError(f"a dry run makes up at most {most} rows here, not {asked}.")
    return asked or min(1000, most)


def digest_of(table: str, request: wire.Document) -> str:
    """What a request is, for its idempotency key."""
    return _digest(type(request).__name__, table, request.written)


@lru_cache(maxsize=256)
def _digest(kind: str, table: str, written: str) -> str:
    return hashlib.sha256(f"{kind} {table} {written}".encode()).hexdigest()
