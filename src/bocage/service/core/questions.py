"""One question from a request: admitted, charged once under its key, answered."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from bocage.accounting import Entry
from bocage.errors import LedgerError, PlanError, RequestConflict, RequestReused
from bocage.model import Released, from_dict
from bocage.model.export.json import parse
from bocage.plan.documents import MOST_STEPS, HandleStep
from bocage.private import Answer, Kind, PrivatePartition, PrivateTable
from bocage.private.steps import FindModel, Rows, follow
from bocage.service.core import documents
from bocage.service.core.accounts import Admission, Answered, shielded

if TYPE_CHECKING:
    from bocage.service.core.service import Service


def query(
    service: Service,
    analyst: str,
    table: str,
    request: documents.QueryRequest,
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
    private, _ = service.tables.asked_by(analyst, table)
    steps = expand(service, analyst, table, request.plan)
    find = finder(service, analyst)
    if request.mode == "preview":
        priced = private.preview(rows=request.rows)
        return _answer(rows_of(priced, steps, find), request)
    with private.dry_run(rows=dry_rows(service, request.rows)) as made_up:
        return _answer(rows_of(made_up, steps, find), request)


def _release(
    service: Service,
    analyst: str,
    table: str,
    request: documents.QueryRequest,
    key: str | None,
    *,
    grant: str | None,
) -> Answer:
    digest = digest_of(table, request)
    fresh = request.fresh or service.tables.is_moving(table)  # then no answer is about now
    once = f"fresh {key}" if fresh and key is not None else key  # no key has a space
    admission = Admission(once, keep=fresh and key is not None)
    private, account = service.tables.charged_by(analyst, table, admission, grant)
    if key is not None:
        service.records.bind(analyst, key, digest)
    steps = expand(service, analyst, table, request.plan)
    rows = rows_of(private, steps, finder(service, analyst))
    with shielded(admission):
        try:
            answer = _answer(rows, request)
            left = answer.remaining
        except Answered:
            left = str(account.remaining())
        except LedgerError as error:
            raise conflict_of(error) from None
        if admission.kept is not None:
            answer = Answer.from_json(admission.kept).as_kind(Kind.RELEASE, remaining=left)
    if answer.kind is Kind.STORED and key is not None:
        answer = _as_paid(service, answer, key)
    return answer


def _answer(rows: Rows, request: documents.QueryRequest) -> Answer:
    """Ask what is asked, by the method that it is called after."""
    ask = getattr(rows, request.ask.kind)
    answer: Answer = ask(**request.ask.arguments, fresh=request.fresh)
    return answer


def _as_paid(service: Service, answer: Answer, key: str) -> Answer:
    """A stored answer that this very request paid for is shown as it was released."""
    charge = entry_of(service, answer.entry)
    if charge is None or charge.request != key:
        return answer
    return answer.as_kind(Kind.RELEASE, cost=str(charge.epsilon))


def entry_of(service: Service, number: int | None) -> Entry | None:
    if number is None:
        return None
    entries = service.tables.ledger.entries(after=number - 1, limit=1)
    return entries[0] if entries else None


def conflict_of(error: LedgerError) -> Exception:
    """The ledger's refusal of a key that it knows with another charge."""
    if isinstance(error, RequestReused):
        return RequestConflict("this idempotency key stands for another request. Nothing was charged.")
    return error


def balance(service: Service, analyst: str, table: str, request: documents.BalanceRequest) -> documents.BalanceDocument:
    """The account of a table or one of its parts."""
    private, _ = service.tables.asked_by(analyst, table)
    steps = expand(service, analyst, table, request.plan)
    rows = rows_of(private, steps, finder(service, analyst))
    if isinstance(rows, PrivatePartition):
        raise PlanError("a partition has no account of its own; each of its parts has.")
    return documents.BalanceDocument(spent=str(rows.spent()), remaining=str(rows.remaining()))


def keep_partition(
    service: Service, analyst: str, table: str, request: documents.PartitionRequest
) -> documents.PartitionDocument:
    """Keep a plan that ends in a partition. It costs nothing and lasts."""
    steps = expand(service, analyst, table, request.plan)
    keys = partition_keys(service, analyst, table, steps)
    most = service.settings.handles_per_analyst
    plan = [step.model_dump(exclude_none=True) for step in steps]
    handle = service.records.keep_handle(analyst, table, plan, most)
    return documents.PartitionDocument(handle=handle.id, table=table, plan=list(steps), keys=keys)


def partition_keys(service: Service, analyst: str, table: str, steps: list[documents.Step]) -> list[str]:
    private, _ = service.tables.asked_by(analyst, table)
    rows = rows_of(private, steps, finder(service, analyst))
    if not isinstance(rows, PrivatePartition):
        raise PlanError("the plan of a kept partition ends in a partition.")
    return list(rows.keys())


def expand(service: Service, analyst: str, table: str, steps: list[documents.Step]) -> list[documents.Step]:
    """The steps with a kept partition written out, if they begin with one."""
    if not steps or not isinstance(first := steps[0].form, HandleStep):
        return steps
    kept = service.records.handle(analyst, first.handle)
    if kept.table != table:
        raise PlanError("the partition was kept for another table.")
    stored = documents.PartitionRequest.model_validate({"plan": kept.plan}).plan
    expanded = [*stored, *steps[1:]]
    if len(expanded) > MOST_STEPS:
        raise PlanError(f"a plan has at most {MOST_STEPS} steps.")
    return expanded


def rows_of(table: PrivateTable, steps: Sequence[documents.Step], find_model: FindModel) -> Rows:
    """Walk the steps of a plan. No row is touched."""
    return follow(table, (step.form for step in steps), find_model)


def finder(service: Service, analyst: str) -> FindModel:
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


def digest_of(table: str, request: documents.Document) -> str:
    """What a request is, for its idempotency key."""
    return _digest(type(request).__name__, table, request.written)


@lru_cache(maxsize=256)
def _digest(kind: str, table: str, written: str) -> str:
    return hashlib.sha256(f"{kind} {table} {written}".encode()).hexdigest()
