"""The rows of a query, from the entries that tasks have answered with."""

from base64 import b64decode, urlsafe_b64encode
from binascii import Error as NotBase64Error
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from streamapp_runtime.driver.checkpoints.committed_rows import TaskRows
from streamapp_runtime.driver.state_queries.state_lookup_request import QueryRefusedError, StateLookup
from streamapp_runtime.driver.state_queries.state_queries import StateQueries
from streamapp_runtime.lanes.protocol.state_query import MOST_ANSWER_BYTES, StateAnswer
from streamapp_runtime.lanes.tables_file import KnownTable


@dataclass(frozen=True, slots=True)
class QueryResult:
    """Rows in order of their keys, and behind which entry there are more."""

    rows: tuple[dict[str, Any], ...]
    last: bytes | None = None  # the key of the last entry, where there are more
    snapshot: str = ""  # whose rows they are, where there are more
    is_short: bool = False  # whether a task has more of the entries that the page has room for

    def fields(self) -> dict[str, Any]:
        """As it is served."""
        more = {} if self.last is None else {"next": cursor(self.last)}
        return {"rows": self.rows} | more | ({"snapshot": self.snapshot} if self.snapshot else {})


def read_rows(queries: StateQueries, lookup: StateLookup) -> QueryResult:
    """The rows that are asked for; raises what `StateQueries.ask` raises, and QueryRefusedError.

    A page is short where few tasks have most of its keys. A page of a snapshot may be. A scan without one is
    asked again then, since it has all its rows as of one batch: each task gives up to a whole page.
    """
    result = _query_result(lookup, queries.table(lookup.table), queries.ask(lookup))
    if result.is_short and not lookup.snapshot:
        lookup = replace(lookup, whole=True)
        result = _query_result(lookup, queries.table(lookup.table), queries.ask(lookup))
    return result


def _query_result(lookup: StateLookup, table: KnownTable, answers: Sequence[StateAnswer]) -> QueryResult:
    """The rows of all tasks. Of a scan those as far as every task has answered, and no more than asked for.

    QueryRefusedError where the rows of keys are larger than an answer.
    """
    if lookup.keys and any(answer.cut for answer in answers):
        raise QueryRefusedError(
            f"the rows of these keys are larger than {MOST_ANSWER_BYTES:,} bytes; ask for fewer keys"
        )
    entries = sorted((key, answer.task, value) for answer in answers for key, value in answer.entries)
    last: bytes | None = None
    cut_at = min((answer.entries[-1][0] for answer in answers if answer.cut and answer.entries), default=None)
    if cut_at is not None:
        entries, last = [entry for entry in entries if entry[0] <= cut_at], cut_at
    share = lookup.share(len(answers))
    is_short = len(entries) < lookup.limit and any(
        answer.cut and len(answer.entries) == share for answer in answers
    )
    if not lookup.keys and len(entries) > lookup.limit:
        last = entries[lookup.limit - 1][0]
        entries = [entry for entry in entries if entry[0] <= last]  # a key may be in several tasks
    tasks = sorted({task for _, task, _ in entries})
    rows = [
        row
        for task in tasks
        for row in _rows(table, task, [(key, value) for key, owner, value in entries if owner == task])
    ]
    ordered = tuple(sorted(rows, key=lambda row: (row["key"], row["task"])))
    return QueryResult(ordered, last, "" if last is None else lookup.snapshot, is_short)


def cursor(entry_key: bytes) -> str:
    """The key of an entry, as who asks for more gives it back."""
    return urlsafe_b64encode(entry_key).decode()


def entry_of_cursor(text: str) -> bytes:
    """The key of an entry; QueryRefusedError where it is none that was served."""
    try:
        return b64decode(text, altchars=b"-_", validate=True)
    except (NotBase64Error, ValueError):
        raise QueryRefusedError("`after` is not what an earlier answer had as `next`") from None


def _rows(table: KnownTable, task: str, entries: list[tuple[bytes, bytes]]) -> Iterator[dict[str, Any]]:
    keys = pa.array([key for key, _ in entries], pa.binary())
    values = pa.array([value for _, value in entries], pa.binary())
    for row_keys, rows in table.rows(keys, values, None):
        yield from TaskRows(task, row_keys, rows).objects()
