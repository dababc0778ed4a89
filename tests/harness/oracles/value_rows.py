"""Rows of a column of each type, with values on which engines differ."""

import datetime as dt
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from streamapp.columns.column_scope import ColumnScope, ScopeSide
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.expressions.analysis import canonical
from streamapp_runtime.formats.arrow_types import arrow_schema

COLUMNS = canonical(
    parse_columns(
        "user STRING, page STRING, n INT, k INT, m BIGINT, t TINYINT, s SMALLINT, x DOUBLE, y DOUBLE, "
        "ok BOOLEAN, at TIMESTAMP, due TIMESTAMP_NTZ, day DATE, eve DATE, f FLOAT, raw BINARY, "
        "price DECIMAL(9,2), rate DECIMAL(18,6), "
        "of STRUCT<n: INT, `a b`: STRING, deep: STRUCT<day: DATE, x: DOUBLE>>, "
        "tags ARRAY<STRING>, counts ARRAY<INT>, ratios ARRAY<DOUBLE>, "
        "visits ARRAY<STRUCT<page: STRING, m: BIGINT>>, extra MAP<STRING, INT>, names MAP<INT, STRING>"
    )
)
SCOPE = ColumnScope((ScopeSide("", COLUMNS),))
SCHEMA = arrow_schema(COLUMNS)
ODD_DOUBLES = [0.0, -0.0, 1.0, -1.5, 0.1, float("nan"), float("inf"), -float("inf"), 1e308, 5e-324, 2.0**53]
ODD_MOMENTS = [
    dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
    dt.datetime(2026, 2, 28, 12, 30, tzinfo=dt.UTC),
    dt.datetime(2024, 2, 29, 23, 59, 59, 999_000, tzinfo=dt.UTC),
    dt.datetime(1, 1, 1, tzinfo=dt.UTC),
    dt.datetime(1582, 10, 10, 1, 2, 3, 400_000, tzinfo=dt.UTC),
    dt.datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=dt.UTC),
]
ODD_DATES = [
    *(dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    *(dt.date(2024, 2, 29), dt.date(2100, 2, 28), dt.date(1582, 10, 10), dt.date(2026, 1, 1)),
    *(dt.date(2020, 12, 31), dt.date(2021, 1, 3), dt.date(2018, 12, 31)),
]


def odd_wholes(bits: int) -> list[int]:
    most = 2 ** (bits - 1) - 1
    return [0, 1, -1, 2, 7, most, most - 1, -most, -most - 1, most // 2 + 1]


ODD_VALUES: dict[str, list[Any]] = {
    "STRING": [
        *("", " ", "a", " a ", "\ta ", "ab", "ba", "\u00a0a\u2003", "é", "e\u0301", "ß", "İ", "a%b"),
        *("2026-07-01T12:30:00.5Z", "2026-02-28 1:2:3 Europe/Paris", "2026-02-28 1:2:3 Europe/Oz", "2026"),
        *("aaa", "a-b-aé", "\x00a", "-a--"),
        *("-12", "1.5", "2024-02-29", " 2023-1-31T9 ", "-0001", "2023-02-29"),
        *("\U0001f600b", "a\nb", "a.b", "ΑΣ", "aΣ\u0301b", "ǆ", "ﬁ", " 7", "NaN", "true", "N", "99999999999"),
    ],
    "INT": odd_wholes(32),
    "BIGINT": [*odd_wholes(64), 2**31, -(2**31) - 1, 2**53 + 1, 2**32],
    "TINYINT": odd_wholes(8),
    "SMALLINT": odd_wholes(16),
    "DOUBLE": ODD_DOUBLES,
    "BOOLEAN": [True, False],
    "TIMESTAMP": ODD_MOMENTS,
    "TIMESTAMP_NTZ": [moment.replace(tzinfo=None) for moment in ODD_MOMENTS],
    "DATE": ODD_DATES,
    "FLOAT": [0.0, -0.0, 1.5, float("nan"), float("inf"), -float("inf"), 2.0**-149],
    "BINARY": [b"", b"a", b"\xff", b"\x7f\x00"],
    "DECIMAL(18,6)": [
        *(Decimal("0.000000"), Decimal("1.500000"), Decimal("-1.500001"), Decimal("999999999999.999999")),
        *(Decimal("-999999999999.999999"), Decimal("0.000001"), Decimal("10.000000")),
    ],
    "DECIMAL(9,2)": [
        Decimal("0.00"),
        Decimal("-1.50"),
        Decimal("9999999.99"),
        Decimal("1.00"),
        Decimal("-9999999.99"),
    ],
    "STRUCT<`n`: INT, `a b`: STRING, `deep`: STRUCT<`day`: DATE, `x`: DOUBLE>>": [
        {"n": None, "a b": None, "deep": None},
        {"n": 1, "a b": "a", "deep": {"day": None, "x": float("nan")}},
        {"n": -1, "a b": "", "deep": {"day": dt.date(2024, 2, 29), "x": -0.0}},
    ],
    "ARRAY<STRING>": [[], [None], ["a"], ["b", None, "a"], ["", "é"]],
    "ARRAY<INT>": [[], [None, 1], [0, 1, 2], [2**31 - 1, -(2**31), None]],
    "ARRAY<DOUBLE>": [[], [0.0, float("nan")], [-0.0, None], [1.5, float("inf")]],
    "ARRAY<STRUCT<`page`: STRING, `m`: BIGINT>>": [
        [],
        [None],
        [{"page": "a", "m": 1}, {"page": None, "m": 2**40}],
    ],
    "MAP<STRING, INT>": [[], [("a", 1)], [("b", None), ("a", -1)], [("", 0)]],
    "MAP<INT, STRING>": [[], [(1, "a"), (-1, None)], [(0, "")]],
}
_ANY_VALUES = {
    "INT": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "TIMESTAMP": st.datetimes(timezones=st.just(dt.UTC)),
    "TIMESTAMP_NTZ": st.datetimes(),
    "DATE": st.dates(),
}


def values_of(kind: str) -> st.SearchStrategy[Any]:
    odd = st.sampled_from([None, *ODD_VALUES[kind]])
    return odd | _ANY_VALUES[kind] if kind in _ANY_VALUES else odd


ROWS = st.lists(st.tuples(*(values_of(column.type) for column in COLUMNS)), min_size=1, max_size=16)
