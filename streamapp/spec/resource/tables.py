"""Tables: local state filled by the graph or by side inputs, or a look-up in a remote store."""

from typing import Annotated, Any, Literal

from pydantic import Field

from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import Crd, Effect
from streamapp.spec.value_types.scalars import (
    Columns,
    KeyExpression,
    LongDuration,
    Name,
    PythonReference,
    SelectList,
    ShortDuration,
)

VersionSign = Literal["none", "endOfStream", "nullKey", "import"]
"""The end of a version of a side input. Imports of a table that is refreshed write their own."""


class SideInput(Part):
    """A stream that fills a table."""

    stream: Name
    """The stream."""
    bootstrap: bool = False
    """Main inputs wait until the table holds what the stream held at start."""
    key: KeyExpression | None = None
    """The table's key as an expression over the record; the record's key when unset."""
    value: SelectList | None = None
    """The row to keep as a select list over the record; the record's value when unset."""
    python: PythonReference | None = None
    """A function from Arrow batches to Arrow batches of rows and their keys, in place of the expressions."""
    versions: Literal["none", "endOfStream", "nullKey"] = "none"
    """What seals a version of a bounded data set: an end of stream, or a record with a null key."""


class Cache(Part):
    """Answers of a remote table kept for a while."""

    size: Annotated[int, Field(ge=0, le=100_000_000)] = 0
    """How many keys, per processor; 0 keeps none."""
    ttl: LongDuration = "1m"
    """How long an answer is good, also the answer that there is no row."""


class Retry(Part):
    """The further tries of a call that failed."""

    attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Calls in all."""
    backoff: ShortDuration = "100ms"
    """The wait before the second call; it doubles each time."""


class Remote(Part):
    """An external lookup table, asked once per batch for each key of the batch."""

    python: PythonReference
    """A class with `get_many(keys)`, such as `streamapp_runtime.remote.redis:RedisTable`."""
    options: Annotated[dict[str, Any], Crd({"x-kubernetes-preserve-unknown-fields": True})] = {}
    """Options for the class, in addition to the table's name and columns."""
    cache: Cache = Cache()
    """Answers kept for a while."""
    timeout: ShortDuration = "5s"
    """The bound on one call."""
    retry: Retry = Retry()
    """How a failed call is tried again."""
    rate_limit: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    """Keys asked for per second and processor at most; 0 is no limit."""
    on_unavailable: Literal["fail", "wait", "asMissing"] = "wait"
    """What to do when it stays unavailable: end the app, let its rows wait, or treat its rows as missing."""


class Table(Part):
    """One table."""

    name: Name
    """What operators call it by."""
    store: Annotated[Literal["rocksdb", "lmdb", "memory"], Effect.REFUSED] = "rocksdb"
    """What holds a task's part of it; changes only together with a raised `resetNonce`."""
    columns: Annotated[Columns | None, Effect.REFUSED] = None
    """Its columns; those of what fills it when unset."""
    side_inputs: Annotated[tuple[SideInput, ...], Crd({"maxItems": 16})] = ()
    """Streams that fill it; nothing else may write to it then."""
    broadcast: bool = False
    """Every task sees the whole table; joins with it agree on nothing."""
    remote: Remote | None = None
    """An external lookup table."""
    changelog: Annotated[bool | None, Effect.REFUSED] = None
    """Writes are also in a compacted stream, so that a lost store is restored; true, but for side inputs."""
    max_store_age: LongDuration = "1d"
    """A store of side inputs that was last used longer ago is rebuilt, not trusted."""
    visibility: Literal["nextBatch", "sameBatch"] = "nextBatch"
    """When an update of a side input is seen: from the next batch on, or by the joins of the same batch."""
