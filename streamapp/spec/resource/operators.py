"""The operations of an app on its streams: one entry per operator, each of exactly one kind."""

from typing import Annotated, Literal

from pydantic import Field

from streamapp.spec.resource.base import OneOf, Part
from streamapp.spec.resource.field_marks import Crd
from streamapp.spec.value_types.scalars import (
    AggregateList,
    Columns,
    Condition,
    KeyExpression,
    LongDuration,
    Name,
    PythonReference,
    RowExpression,
    SelectList,
    ShortDuration,
    Span,
)

Source = Annotated[Name, Field(alias="from")]


class Filter(Part):
    """Keeps the rows for which a condition holds."""

    source: Source
    """The stream or operator it reads."""
    where: Condition
    """The condition, a Spark SQL expression."""


class Map(Part):
    """Makes one row of each, by a select list or by Python over Arrow batches."""

    source: Source
    """The stream or operator it reads."""
    select: SelectList | None = None
    """A Spark SQL select list."""
    python: PythonReference | None = None
    """A function from an Arrow batch to an Arrow batch of as many rows."""
    columns: Columns | None = None
    """The columns that `python` returns."""
    key: KeyExpression | None = None
    """The new key, where it changes."""


class FlatMap(Part):
    """Makes any number of rows of each."""

    source: Source
    """The stream or operator it reads."""
    select: SelectList | None = None
    """A select list with one generator, such as `user, explode(items) AS item`."""
    python: PythonReference | None = None
    """A function from an Arrow batch to an Arrow batch of any number of rows."""
    columns: Columns | None = None
    """The columns that `python` returns."""
    key: KeyExpression | None = None
    """The new key, where it changes."""


class Merge(Part):
    """All rows of several streams of the same columns."""

    source: Annotated[tuple[Name, ...], Field(alias="from", min_length=2), Crd({"maxItems": 32})]
    """The streams or operators it reads, two or more."""


class Repartition(Part):
    """Writes rows to an intermediate stream; what follows reads that stream."""

    source: Source
    """The stream or operator it reads."""
    idle_timeout: ShortDuration | None = None
    """An upstream task silent for so long no longer holds the watermark back; unset: it always does."""
    idle_quorum: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The share of upstream tasks that must not be idle for the others to be left out."""


class PartitionBy(Repartition):
    """Writes rows to an intermediate stream by a new key; what follows reads that stream."""

    key: KeyExpression
    """The key to partition by."""
    partitions: Annotated[int | None, Field(ge=1, le=100_000)] = None
    """How many partitions the intermediate stream has; inferred when unset."""
    retention: LongDuration | None = None
    """Records that this app has read stay for others until they are so old; unset: they go at once."""


class Broadcast(Repartition):
    """Writes rows to an intermediate stream that every task reads whole."""


class Join(Part):
    """Pairs the rows of two streams that have equal keys and come within a time of each other."""

    source: Annotated[tuple[Name, ...], Field(alias="from", min_length=2, max_length=2)]
    """The two streams or operators; in expressions they are `left` and `right`."""
    within: Span
    """How far apart the two rows may be."""
    time: Literal["event", "arrival"] = "event"
    """Which time counts: the events' own, or that of the batch in which they arrive."""
    type: Literal["inner", "left", "right", "full"] = "inner"
    """Which rows without a partner are kept."""
    where: Condition | None = None
    """A further condition in addition to the equal keys."""
    select: SelectList | None = None
    """A select list over `left` and `right`; all columns when unset."""


class JoinTable(Part):
    """Looks up each row's key in a table."""

    source: Source
    """The stream or operator it reads."""
    table: Name
    """The table."""
    type: Literal["inner", "left"] = "inner"
    """Whether a row without a match is dropped or kept."""
    key: KeyExpression | None = None
    """The key to look up; the row's key when unset. A local table needs the row's key."""
    select: SelectList | None = None
    """A select list over both; all columns when unset."""


class SendToTable(Part):
    """Writes rows to a local table: the newest row of a key stays, a null row deletes it."""

    source: Source
    """The stream or operator it reads."""
    table: Name
    """The table."""
    delete_where: Condition | None = None
    """Rows for which this holds delete their key."""


class Tumbling(Part):
    """Windows side by side."""

    size: Span
    """Length of a window."""


class Hopping(Part):
    """Windows that overlap."""

    size: Span
    """Length of a window."""
    advance: Span
    """From the start of one to the start of the next."""


class Session(Part):
    """Windows that end when a key was silent."""

    gap: Span
    """The silence that ends a session."""


class Window(OneOf):
    """The windows that time is cut into; exactly one kind."""

    @classmethod
    def always(cls) -> frozenset[str]:
        """A window has no name."""
        return frozenset()

    tumbling: Tumbling | None = None
    """Windows side by side."""
    hopping: Hopping | None = None
    """Windows that overlap."""
    session: Session | None = None
    """Windows that end when a key was silent."""


class Aggregate(Part):
    """Totals per key: running, or per window of event time."""

    source: Source
    """The stream or operator it reads."""
    aggregates: AggregateList
    """A select list of aggregate functions, such as `count(*) AS views, max(ts) AS last`."""
    key: KeyExpression | None = None
    """What to group by; the row's key when unset. It must keep equal keys in one task."""
    window: Window | None = None
    """How time is cut; running totals when unset."""
    allowed_lateness: LongDuration = "0s"
    """A window still takes rows so long after the watermark passed its end."""
    emit: Literal["onUpdate", "onWatermark"] | None = None
    """When results go out; running totals on update, windows when the watermark passes."""


class Process(Part):
    """A user's own stateful class: `open`, `process(batch, state, out)`, `close`."""

    source: Source
    """The stream or operator it reads."""
    python: PythonReference
    """The class."""
    columns: Columns | None = None
    """The columns that it puts out; none when it puts nothing out."""
    tables: Annotated[tuple[Name, ...], Crd({"maxItems": 16})] = ()
    """The tables it reads and writes."""
    key: KeyExpression | None = None
    """The new key of the output rows, where it changes."""


class SendTo(Part):
    """Writes rows to an output stream."""

    source: Source
    """The stream or operator it reads."""
    stream: Name
    """The output stream."""
    timestamp: RowExpression | None = None
    """The record's time, a TIMESTAMP; unset or null, it is the event time of the row."""
    headers: RowExpression | None = None
    """The record's headers: a MAP<STRING, BINARY>, a MAP<STRING, STRING>, or what `headerList` holds."""


class Operator(OneOf):
    """A named operator of exactly one kind."""

    name: Name
    """Its name; shares one namespace with streams. Part of the address of its state."""
    filter: Filter | None = None
    """Keep the rows for which a condition holds."""
    map: Map | None = None
    """Make one row of each."""
    flat_map: FlatMap | None = None
    """Make any number of rows of each."""
    merge: Merge | None = None
    """Take all rows of several streams."""
    partition_by: PartitionBy | None = None
    """Repartition by a new key, through an intermediate stream."""
    broadcast: Broadcast | None = None
    """Give every row to every task, through an intermediate stream."""
    join: Join | None = None
    """Join two streams within a time."""
    join_table: JoinTable | None = None
    """Look up rows in a table."""
    send_to_table: SendToTable | None = None
    """Write rows to a table."""
    aggregate: Aggregate | None = None
    """Totals per key, running or per window."""
    process: Process | None = None
    """Run a user-defined stateful class."""
    send_to: SendTo | None = None
    """Write rows to an output stream."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Its input."""
        source: str | tuple[str, ...] = getattr(self.body, "source", ())
        return (source,) if isinstance(source, str) else source

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it names."""
        table: str | None = getattr(self.body, "table", None)
        return (table,) if table is not None else getattr(self.body, "tables", ())

    @property
    def stream(self) -> str | None:
        """The stream that it names."""
        return getattr(self.body, "stream", None)

    @property
    def partitions(self) -> int | None:
        """The partitions that it asks for."""
        return getattr(self.body, "partitions", None)
