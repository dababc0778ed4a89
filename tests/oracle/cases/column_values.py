"""Types of columns: which Arrow and DuckDB have them as, and values as they really come."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
TEXTS: Final = (
    "",
    "a",
    "ab",
    "b",
    "none",
    " x ",
    "ü",
    "日本",
    "e\u0301",
    "😀",
    "it's",
    '"q"',
    "\\n",
    "a\tb",
    "0",
    "-1",
)

ARROW: Final[dict[str, pa.DataType]] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(38, 2)": pa.decimal128(38, 2),
    "DECIMAL(9, 3)": pa.decimal128(9, 3),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
    "ARRAY<INT>": pa.list_(pa.int32()),
    "STRUCT<a: INT, b: STRING>": pa.struct([("a", pa.int32()), ("b", pa.string())]),
    "MAP<STRING, INT>": pa.map_(pa.string(), pa.int32()),
}
"""Each type that is generated, as Arrow has it."""
HEADER_TYPES: Final[dict[str, pa.DataType]] = {
    "MAP<STRING, BINARY>": pa.map_(pa.string(), pa.binary()),
    "ARRAY<STRUCT<name: STRING, value: BINARY>>": pa.list_(
        pa.struct([("name", pa.string()), ("value", pa.binary())])
    ),
}
"""The types that only columns of headers have."""
METADATA: Final = {
    "key": "BINARY",
    "timestamp": "TIMESTAMP",
    "partition": "INT",
    "offset": "BIGINT",
    "topic": "STRING",
    "headers": "MAP<STRING, BINARY>",
    "headerList": "ARRAY<STRUCT<name: STRING, value: BINARY>>",
}
"""What rows may have of their records, and its types."""
WHOLE_VALUES: Final = {"STRING": "string", "BINARY": "bytes"}
"""The formats whose record is the only column, by its type."""
KEY_TYPES: Final = ("STRING", "STRING", "BIGINT", "INT", "DATE", "BOOLEAN")
ORDERED_TYPES: Final = tuple(kind for kind in ARROW if "<" not in kind)


def _integer(bits: int) -> Callable[[random.Random], int]:
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return lambda chance: chance.choice((0, 1, -1, *ends, chance.randint(-9, 99), 2 ** (bits - 2)))


def _double(chance: random.Random) -> float:
    """Numbers whose sums are exact in any order, and what is no number."""
    return chance.choice(
        (0.0, -0.0, chance.randint(-999, 999) / 4, 2.0**40, float("nan"), float("inf"), float("-inf"))
    )


def _decimal(digits: int, scale: int) -> Callable[[random.Random], Decimal]:
    most = Decimal((0, (9,) * digits, -scale))

    def value(chance: random.Random) -> Decimal:
        return chance.choice(
            (Decimal(0), most, most.copy_negate(), Decimal(chance.randint(-9999, 9999)).scaleb(-scale))
        )

    return value


def _moment(chance: random.Random) -> datetime:
    seconds = chance.choice((0, -1, 1_774_746_000, -2_208_988_800, chance.randint(-(2**31), 2**32)))
    return EPOCH + timedelta(seconds=seconds, microseconds=chance.choice((0, 1, 999_999)))


VALUES: Final[dict[str, Callable[[random.Random], Any]]] = {
    "BOOLEAN": lambda chance: chance.random() < 0.5,
    "TINYINT": _integer(8),
    "SMALLINT": _integer(16),
    "INT": _integer(32),
    "BIGINT": _integer(64),
    "FLOAT": lambda chance: chance.choice((0.0, chance.randint(-99, 99) / 4, float("nan"), float("inf"))),
    "DOUBLE": _double,
    "DECIMAL(38, 2)": _decimal(38, 2),
    "DECIMAL(9, 3)": _decimal(9, 3),
    "STRING": lambda chance: chance.choice(TEXTS),
    "BINARY": lambda chance: chance.choice((b"", b"\x00", b"\xff\xfe", b"a")),
    "DATE": lambda chance: date(1970, 1, 1) + timedelta(days=chance.randint(-99_999, 99_999)),
    "TIMESTAMP": _moment,
    "TIMESTAMP_NTZ": lambda chance: _moment(chance).replace(tzinfo=None),
    "ARRAY<INT>": lambda chance: [chance.choice((None, 1, -(2**31))) for _ in range(chance.randint(0, 3))],
    "MAP<STRING, INT>": lambda chance: dict.fromkeys(chance.sample(TEXTS, 2), chance.choice((None, 1))),
    "STRUCT<a: INT, b: STRING>": lambda chance: {"a": chance.choice((None, 1)), "b": chance.choice(TEXTS)},
}


def random_value(chance: random.Random, kind: str, nulls: float = 0.1) -> Any:
    """A value of a type, or null."""
    return None if chance.random() < nulls else VALUES[kind](chance)


def random_headers(chance: random.Random) -> tuple[tuple[str, bytes | None], ...]:
    """Headers of a record, of which names may stand twice; in most cases none."""
    count = chance.choice((0, 0, 0, 1, 2, 3))
    return tuple(
        (chance.choice(("a", "b", "ü", "")), chance.choice((None, b"", b"\xff"))) for _ in range(count)
    )


def arrow_value(value: Any) -> Any:
    """A value as Arrow takes it: maps as pairs. A record of that type has no key that is no text."""
    return list(value.items()) if isinstance(value, dict) and value.keys() != {"a", "b"} else value


def key_pool(chance: random.Random, kind: str) -> list[Any]:
    """Some values of a type of keys, few so that rows meet."""
    if kind == "BOOLEAN":
        return [True, False]
    return list(dict.fromkeys(VALUES[kind](chance) for _ in range(chance.randint(1, 7))))


def key_text(value: Any) -> bytes | None:
    """A key as producers write it: the text of the value."""
    match value:
        case None:
            return None
        case bytes():
            return value
        case bool():
            return str(value).lower().encode()
        case _:
            return str(value).encode()


def to_ms(moment: datetime) -> int:
    """Milliseconds since 1970 began, as of the last whole one."""
    return (moment - EPOCH) // timedelta(milliseconds=1)


def from_ms(time: int) -> datetime:
    """The moment of so many milliseconds."""
    return EPOCH + timedelta(milliseconds=time)


def metadata_columns(stream: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a stream has of its records, with their types."""
    named = dict(stream.get("metadata", {}))
    types = METADATA | ({"key": "STRING"} if named.pop("keyFormat", "bytes") == "string" else {})
    return {column: types[field] for field, column in named.items()}
