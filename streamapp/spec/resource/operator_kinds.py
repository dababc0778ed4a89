"""The traits of each kind of operator: the one table that plans, tasks, pictures and checks read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum

from streamapp.spec.resource.operators import Operator


class OperatorKind(StrEnum):
    """The kind of an operator; the values are the resource's own words."""

    INPUT = "input"
    FILTER = "filter"
    MAP = "map"
    FLAT_MAP = "flatMap"
    MERGE = "merge"
    PARTITION_BY = "partitionBy"
    BROADCAST = "broadcast"
    JOIN = "join"
    JOIN_TABLE = "joinTable"
    SEND_TO_TABLE = "sendToTable"
    AGGREGATE = "aggregate"
    PROCESS = "process"
    SEND_TO = "sendTo"


class StreamUse(Enum):
    """The use that an operator makes of the stream that it names."""

    NONE = "names none"
    READS = "reads it"
    WRITES = "writes it, for other apps"
    REPARTITIONS = "makes it, and each task reads a part of it"
    BROADCASTS = "makes it, and every task reads the whole of it"


class Grouping(Enum):
    """The cases in which an operator brings rows of equal keys together, so that their streams must agree.

    An aggregate does: its state for a key lies in one task, and merged streams of different counts would
    bring the key to two.
    """

    NEVER = "never"
    THROUGH_TABLES = "where a table that it names is divided among tasks"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTraits:
    """The traits of a kind of operator. No field has a default: a new kind answers every question."""

    least_inputs: int
    stream: StreamUse
    hands_on_rows: bool  # whether others may read from it
    keeps_state: bool  # state of its own beside tables; of a user's class only its code can tell
    grouping: Grouping
    reads_tables: bool
    writes_tables: bool
    least_tables: int
    key_is_of_rows: bool  # whether its `key` is that of the rows that it hands on
    takes_select_or_python: bool  # either a select list or a Python function makes its columns

    @property
    def makes_stream(self) -> bool:
        """True if later operators read a stream that this one makes, instead of its rows directly."""
        return self.stream in (StreamUse.REPARTITIONS, StreamUse.BROADCASTS)

    @property
    def fills_tables(self) -> bool:
        """True if the rows that it takes become the rows of its table: it writes there and does no more."""
        return self.writes_tables and not self.reads_tables


_ON_ROWS = OperatorTraits(
    least_inputs=1,
    stream=StreamUse.NONE,
    hands_on_rows=True,
    keeps_state=False,
    grouping=Grouping.NEVER,
    reads_tables=False,
    writes_tables=False,
    least_tables=0,
    key_is_of_rows=False,
    takes_select_or_python=False,
)
"""An operator on single rows, which keeps nothing and names neither stream nor table."""

OPERATOR_TRAITS: Mapping[OperatorKind, OperatorTraits] = {
    OperatorKind.INPUT: replace(_ON_ROWS, least_inputs=0, stream=StreamUse.READS),
    OperatorKind.FILTER: _ON_ROWS,
    OperatorKind.MAP: replace(_ON_ROWS, key_is_of_rows=True, takes_select_or_python=True),
    OperatorKind.FLAT_MAP: replace(_ON_ROWS, key_is_of_rows=True, takes_select_or_python=True),
    OperatorKind.MERGE: _ON_ROWS,
    OperatorKind.PARTITION_BY: replace(_ON_ROWS, key_is_of_rows=True, stream=StreamUse.REPARTITIONS),
    OperatorKind.BROADCAST: replace(_ON_ROWS, stream=StreamUse.BROADCASTS),
    OperatorKind.JOIN: replace(_ON_ROWS, least_inputs=2, keeps_state=True, grouping=Grouping.ALWAYS),
    OperatorKind.JOIN_TABLE: replace(
        _ON_ROWS, grouping=Grouping.THROUGH_TABLES, reads_tables=True, least_tables=1
    ),
    OperatorKind.SEND_TO_TABLE: replace(_ON_ROWS, hands_on_rows=False, writes_tables=True, least_tables=1),
    OperatorKind.AGGREGATE: replace(
        _ON_ROWS, key_is_of_rows=True, keeps_state=True, grouping=Grouping.ALWAYS
    ),
    OperatorKind.PROCESS: replace(
        _ON_ROWS,
        key_is_of_rows=True,
        keeps_state=True,
        grouping=Grouping.THROUGH_TABLES,
        reads_tables=True,
        writes_tables=True,
    ),
    OperatorKind.SEND_TO: replace(_ON_ROWS, hands_on_rows=False, stream=StreamUse.WRITES),
}
"""One row for each kind."""


def traits_of(operator: Operator) -> OperatorTraits:
    """The traits of an operator of the resource."""
    return OPERATOR_TRAITS[OperatorKind(operator.kind)]


class UndescribedKindError(Exception):
    """A table that lacks a kind of operator, or has a row of none."""


def require_rows(table: str, rows: Iterable[str], kinds: Iterable[str]) -> None:
    """Fail at import where a table and the kinds that it is about do not agree."""
    if differing := sorted(set(rows) ^ set(kinds)):
        raise UndescribedKindError(f"{table} and the kinds of operators differ in {', '.join(differing)}")


require_rows("OperatorKind", OperatorKind, [OperatorKind.INPUT, *Operator.kinds()])
require_rows("OPERATOR_TRAITS", OPERATOR_TRAITS, OperatorKind)
