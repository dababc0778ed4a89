"""The columns that an app reads, of which each column that it writes is made, and how.

What is said may be too much and is never too little: nobody knows what a Python function reads, so that
each of its columns counts as made of all columns that it is given.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.column_uses import ColumnUse, column_uses
from streamapp_runtime.expressions.template import Template
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.compilation.column_fit import unchanged_column
from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.stateless.stream_operations import MADE_BY_APP, Read, Write
from streamapp_runtime.operators.tables.table_operations import FillTable, LookUp, LookUpRemote, WriteTable
from streamapp_runtime.operators.user_code.user_operations import ProcessRows, PythonMap
from streamapp_runtime.program.program import Program

MOST_ORIGINS: Final = 10_000
"""Of one operator's columns, all counted. With more an event would be some megabytes long."""


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A column of a stream, what it is to something made of it, and the Python that may read it, if any."""

    stream: str
    column: str
    use: ColumnUse
    python: str = ""


Origins = frozenset[Origin]
_NONE: Final[Origins] = frozenset()


@dataclass(frozen=True, slots=True)
class OutputLineage:
    """The origins of a stream that is written: of each column by name, and of which rows there are."""

    stream: str
    columns: Mapping[str, Origins]
    rows: Origins


def column_lineage(program: Program) -> tuple[OutputLineage, ...]:
    """Of each declared stream that is written, by name; none where the origins are more than can be told."""
    try:
        return _Walk(program).outputs()
    except _TooManyOriginsError:
        return ()


class _TooManyOriginsError(Exception):
    """An operator's columns have more origins than are told."""


@dataclass(frozen=True, slots=True)
class _RowOrigins:
    """The origins of each column, of which rows there are, and of what rows have beside columns."""

    columns: tuple[Origins, ...] = ()
    rows: Origins = _NONE
    key: Origins = _NONE
    time: Origins = _NONE

    def merged(self, other: "_RowOrigins") -> "_RowOrigins":
        """Rows of two places in one."""
        width = max(len(self.columns), len(other.columns))
        mine, others = (each.columns + (_NONE,) * (width - len(each.columns)) for each in (self, other))
        columns = tuple(first | second for first, second in zip(mine, others, strict=True))
        return _RowOrigins(columns, self.rows | other.rows, self.key | other.key, self.time | other.time)

    @property
    def all_columns(self) -> Origins:
        """The origins of any column."""
        return _NONE.union(*self.columns)


class _Walk:
    """The known origins for each piece, table and stream that the app makes; circles are walked again."""

    def __init__(self, program: Program) -> None:
        self.pieces = program.pieces
        self.names = {piece.name: piece.columns for piece in self.pieces}
        self.table_widths = {table.name: len(table.columns) for table in program.tables}
        self.flows: dict[str, _RowOrigins] = {}
        self.tables: dict[str, _RowOrigins] = {}
        self.streams: dict[str, _RowOrigins] = {}

    def outputs(self) -> tuple[OutputLineage, ...]:
        """The lineage, when no further walk finds more."""
        while self._finds_more():
            pass
        lineages: dict[str, OutputLineage] = {}
        for piece in self.pieces:
            if isinstance(piece.work, Write) and piece.work.role not in MADE_BY_APP:
                written = self._written(piece.work, self.names[piece.sources[0]], self._source(piece))
                known = lineages.get(written.stream)
                lineages[written.stream] = written if known is None else _both(known, written)
        return tuple(lineages[stream] for stream in sorted(lineages))

    def _written(self, write: Write, columns: Sequence[Column], flow: _RowOrigins) -> OutputLineage:
        names = (column.name for column in write.value_columns(columns))
        origins = write.value_columns(flow.columns)
        return OutputLineage(write.stream, dict(zip(names, origins, strict=True)), flow.rows)

    def _finds_more(self) -> bool:
        before = (dict(self.flows), dict(self.tables), dict(self.streams))
        for piece in self.pieces:
            flow = self._flow(piece)
            if sum(map(len, flow.columns)) > MOST_ORIGINS:
                raise _TooManyOriginsError
            self.flows[piece.name] = flow
        return before != (self.flows, self.tables, self.streams)

    def _source(self, piece: Piece) -> _RowOrigins:
        """The origins of a piece's input: rows of several sources have the same columns, but for a join."""
        merged = _RowOrigins()
        for source in piece.sources:
            merged = merged.merged(self._handed_on(source))
        return merged

    def _handed_on(self, name: str) -> _RowOrigins:
        """The known origins of the rows that a piece puts out."""
        return self.flows.get(name, _nothing(len(self.names[name])))

    def _flow(self, piece: Piece) -> _RowOrigins:
        """The origins of the rows that a piece puts out."""
        source = self._source(piece)
        flow = _RowOrigins()
        match piece.work:
            case SqlPart() as part:
                flow = _computed(part, source)
            case Read() as read:
                flow = self._read(read)
            case Write(stream=stream, role=role):
                if role in MADE_BY_APP:
                    _add(self.streams, stream, source)
            case JoinStreams() as join:
                left, right = (self._handed_on(name) for name in piece.sources)
                flow = _joined(join, left, right)
            case LookUp() | LookUpRemote() as look_up:
                flow = self._looked_up(look_up, source)
            case WriteTable(table=table, chosen=chosen) | FillTable(table=table, chosen=chosen):
                _add(self.tables, table, replace(source, columns=tuple(source.columns[p] for p in chosen)))
            case Totals() as totals:
                flow = _totals(totals, source)
            case PythonMap() as function:
                flow = _python_map(function, source, len(piece.columns))
            case ProcessRows() as process:
                flow = self._processed(process, source, len(piece.columns))
            case unknown:
                raise TypeError(f"no lineage of {type(unknown).__name__}")
        return flow

    def _read(self, read: Read) -> _RowOrigins:
        if read.role in MADE_BY_APP:
            return self.streams.get(read.stream, _nothing(len(read.columns)))
        columns = {column.name: _one(read.stream, column.name) for column in read.columns}
        key = columns.get(read.key or "", _NONE)
        return _RowOrigins(tuple(columns.values()), key=key, time=columns.get(read.event_time or "", _NONE))

    def _looked_up(self, look_up: LookUp | LookUpRemote, flow: _RowOrigins) -> _RowOrigins:
        """Rows beside those of a table; all that is known of a remote one's is that the key chooses them."""
        key = flow.key if look_up.key is None else flow.columns[look_up.key]
        width = self.table_widths[look_up.table]
        if isinstance(look_up, LookUpRemote):
            table = _RowOrigins((_through(key, ColumnUse.JOIN),) * width)
        else:
            table = self.tables.get(look_up.table, _nothing(width))
        both = (*flow.columns, *table.columns)
        rows = flow.rows | table.rows | _through(key | table.key, ColumnUse.JOIN)
        return replace(flow, columns=tuple(both[place] for place in look_up.chosen), rows=rows)

    def _processed(self, process: ProcessRows, flow: _RowOrigins, width: int) -> _RowOrigins:
        """A class sees all of a row and of its tables, and may write any of it to any of them."""
        seen = flow.all_columns | flow.key | flow.time
        rows = flow.rows
        for name in process.tables:
            table = self.tables.get(name, _RowOrigins())
            seen, rows = seen | table.all_columns | table.key, rows | table.rows
        made = _through(seen, ColumnUse.TRANSFORMATION, process.python)
        rows |= _through(seen, ColumnUse.FILTER, process.python)
        for name in process.tables:
            _add(self.tables, name, _RowOrigins((made,) * self.table_widths[name], rows, made))
        return _RowOrigins((made,) * width, rows, made, flow.time)


def _computed(part: SqlPart, flow: _RowOrigins) -> _RowOrigins:
    rows, columns = flow.rows, flow.columns
    if part.generator is not None:
        elements = _of_template(part.generator.array, columns)
        rows |= _through(elements, ColumnUse.FILTER)
        elements = _through(elements, ColumnUse.TRANSFORMATION)
        columns = (*columns, *(elements,) * part.generator.values)
    for condition in (part.where, part.delete):
        if condition is not None:
            rows |= _through(_of_template(condition, columns), ColumnUse.FILTER)
    key = flow.key if part.key is None else _of_template(part.key, columns)
    outputs = tuple(_of_template(output, columns) for output in part.outputs)
    return _RowOrigins(outputs, rows, key, flow.time)


def _joined(join: JoinStreams, left: _RowOrigins, right: _RowOrigins) -> _RowOrigins:
    both = (*left.columns, *right.columns)
    key, time = left.key | right.key, left.time | right.time
    paired_by = key | time if join.time == "event" else key
    rows = left.rows | right.rows | _through(paired_by, ColumnUse.JOIN)
    return _RowOrigins(tuple(both[place] for place in join.chosen), rows, key, time)


def _totals(totals: Totals, flow: _RowOrigins) -> _RowOrigins:
    key = _NONE.union(*(flow.columns[place] for place in totals.key)) if totals.key else flow.key
    rows = flow.rows | _through(key, ColumnUse.GROUP_BY)
    totals_origins: list[Origins] = []
    if totals.window is not None:
        rows |= _through(flow.time, ColumnUse.WINDOW)
        totals_origins += [_through(flow.time, ColumnUse.TRANSFORMATION)] * 2  # the start and the end
    for partial in totals.partials:
        argument = _NONE if partial.argument is None else flow.columns[partial.argument]
        totals_origins.append(_through(argument, ColumnUse.AGGREGATION))
    places = (*flow.columns, *totals_origins)
    return _RowOrigins(tuple(places[place] for place in totals.chosen), rows, key, flow.time)


def _python_map(function: PythonMap, flow: _RowOrigins, width: int) -> _RowOrigins:
    seen = flow.all_columns
    made = _through(seen, ColumnUse.TRANSFORMATION, function.python)
    if function.each:
        return replace(flow, columns=(made,) * width)
    rows = flow.rows | _through(seen, ColumnUse.FILTER, function.python)
    return _RowOrigins((made,) * width, rows, made, flow.time)


def _of_template(template: Template, columns: Sequence[Origins]) -> Origins:
    """The origins of what an expression makes of columns with these."""
    same = unchanged_column(template)
    if same is not None:
        return columns[same]
    uses = ((place, use) for place, place_uses in column_uses(template).items() for use in place_uses)
    return _NONE.union(*(_through(columns[place], use) for place, use in uses))


def _through(origins: Origins, use: ColumnUse, python: str = "") -> Origins:
    """The origins of what is made of something with these."""
    if use is ColumnUse.IDENTITY:
        return origins
    return frozenset(Origin(o.stream, o.column, o.use.then(use), o.python or python) for o in origins)


def _one(stream: str, column: str) -> Origins:
    return frozenset((Origin(stream, column, ColumnUse.IDENTITY),))


def _nothing(width: int) -> _RowOrigins:
    """Rows of which nothing is known yet."""
    return _RowOrigins((_NONE,) * width)


def _add(known: dict[str, _RowOrigins], name: str, flow: _RowOrigins) -> None:
    known[name] = known.get(name, _RowOrigins()).merged(flow)


def _both(first: OutputLineage, second: OutputLineage) -> OutputLineage:
    """The lineage of several operators' writes to one stream; names are told apart without case."""
    names = {name.lower(): name for name in (*second.columns, *first.columns)}
    columns = {
        name: _NONE.union(*_named(first.columns, low), *_named(second.columns, low))
        for low, name in names.items()
    }
    return OutputLineage(first.stream, columns, first.rows | second.rows)


def _named(columns: Mapping[str, Origins], name: str) -> Iterator[Origins]:
    return (origins for column, origins in columns.items() if column.lower() == name)
