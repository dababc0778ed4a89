"""The wide row that rows of all streams share: fixed columns, then registers by type."""

from collections.abc import Iterable, Sequence

from streamapp.spec.value_types.column_list import Column

FIXED_COLUMNS = (
    Column("tag", "INT"),  # which edge the row is on
    Column("task", "INT"),  # the task's place in the lane's spec
    Column("k", "BINARY"),  # the key
    Column("t", "BIGINT"),  # the time, in milliseconds
    Column("z", "BOOLEAN"),  # whether it is a tombstone: all columns null
    Column("src", "INT"),  # which range of the spec it was read from
    Column("off", "BIGINT"),  # at which offset
)
BATCH_TIME = Column("now", "TIMESTAMP")
"""The batch's time; part of the row only where an expression asks for it."""

REGISTER_PREFIXES = {
    "STRING": "s",
    "BIGINT": "l",
    "DOUBLE": "d",
    "BOOLEAN": "b",
    "BINARY": "y",
    "TIMESTAMP": "ts",
}
REQUIRED_TYPES = ("STRING", "BIGINT", "BINARY")
"""Of these there is one at least, for reports and changelog entries."""


def register_prefixes(types: Iterable[str]) -> dict[str, str]:
    """The first letters of each type's registers; types without letters of their own are numbered."""
    others = sorted(set(types) - REGISTER_PREFIXES.keys())
    return REGISTER_PREFIXES | {kind: f"x{number}_" for number, kind in enumerate(others)}


def allot_registers(columns: Sequence[Column], family: dict[str, str]) -> tuple[str, ...]:
    """A register for each column: the first free one of its type."""
    used: dict[str, int] = {}
    registers = []
    for column in columns:
        number = used.get(column.type, 0)
        used[column.type] = number + 1
        registers.append(f"{family[column.type]}{number}")
    return tuple(registers)


def wide_row(
    edges: Iterable[Sequence[Column]], family: dict[str, str], batch_time: bool
) -> tuple[Column, ...]:
    """As many registers of each type as the edge needs that needs most of it."""
    most: dict[str, int] = dict.fromkeys(REQUIRED_TYPES, 1)
    for columns in edges:
        for kind in {column.type for column in columns}:
            most[kind] = max(most.get(kind, 0), sum(column.type == kind for column in columns))
    shared = [
        Column(f"{family[kind]}{number}", kind)
        for kind in (*REGISTER_PREFIXES, *sorted(most.keys() - REGISTER_PREFIXES.keys()))
        for number in range(most.get(kind, 0))
    ]
    return (*FIXED_COLUMNS, *((BATCH_TIME,) if batch_time else ()), *shared)
