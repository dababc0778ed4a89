"""Expressions that mean the same in Spark's SQL and in DuckDB's, by the types of their columns.

Expressions by themselves are held against Spark elsewhere. Here they are few, and none of them fails: what is
looked for is what becomes of rows.
"""

import random
from collections.abc import Mapping
from typing import Final

_WHOLE: Final = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_ORDERED: Final = (*_WHOLE, "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "DOUBLE")
_VALUES: Final[tuple[tuple[tuple[str, ...], str, str], ...]] = (
    (("INT",), "{} % 7", "INT"),
    (("BIGINT",), "{} % 7", "BIGINT"),
    (("BIGINT",), "abs({} % 100)", "BIGINT"),
    (_WHOLE, "CASE WHEN {} > 0 THEN 1 ELSE 0 END", "INT"),
    (("BIGINT",), "coalesce({}, -1)", "BIGINT"),
    (("BIGINT",), "nullif({}, 0)", "BIGINT"),
    (_WHOLE, "CAST({} AS STRING)", "STRING"),
    (("BOOLEAN",), "NOT {}", "BOOLEAN"),
    (("STRING",), "length({})", "INT"),
    (("STRING",), "{} || '-x'", "STRING"),
    (("STRING",), "coalesce({}, 'none')", "STRING"),
    (("STRING",), "replace({}, 'a', 'bb')", "STRING"),
    (("STRING",), "substring({}, 1, 2)", "STRING"),
    (("STRING",), "CASE WHEN {} LIKE 'a%' THEN 'a' WHEN {} = '' THEN NULL ELSE {} END", "STRING"),
    (("DOUBLE",), "{} * 2", "DOUBLE"),
    (("DOUBLE",), "CASE WHEN {} > 0.5 THEN 1 END", "INT"),
    (("TIMESTAMP", "DATE"), "CASE WHEN {} IS NULL THEN 0 ELSE 1 END", "INT"),
    (("DATE",), "coalesce({}, DATE '1970-01-01')", "DATE"),
    (_ORDERED, "{} IS NULL", "BOOLEAN"),
)
"""The types of the column, the text, and the type of what comes out."""
_CONDITIONS: Final[tuple[tuple[tuple[str, ...], str], ...]] = (
    (_WHOLE, "{} > 0"),
    (_WHOLE, "{} % 2 = 0 OR {} IS NULL"),
    (("BIGINT", "INT"), "{} IN (0, 1, -1)"),
    (("STRING",), "{} LIKE '%a%'"),
    (("STRING",), "{} <> 'a'"),
    (("STRING",), "{} BETWEEN 'a' AND 'b'"),
    (("BOOLEAN",), "{}"),
    (("BOOLEAN",), "NOT {}"),
    (("DOUBLE",), "{} < 10.5"),
    (("DATE",), "{} >= DATE '1970-01-01'"),
    (_ORDERED, "{} IS NOT NULL"),
)
_TOTALS: Final[tuple[tuple[tuple[str, ...], str, str | None], ...]] = (
    ((), "count(*)", "BIGINT"),
    (("BIGINT", "INT", "SMALLINT", "TINYINT"), "sum({})", "BIGINT"),
    (("DOUBLE",), "sum({})", "DOUBLE"),
    (("DECIMAL(9, 3)",), "sum({})", "DECIMAL(19, 3)"),
    (("DECIMAL(38, 2)",), "sum({})", "DECIMAL(38, 2)"),
    ((*_ORDERED, "FLOAT", "TIMESTAMP_NTZ"), "min({})", None),
    ((*_ORDERED, "FLOAT", "TIMESTAMP_NTZ"), "max({})", None),
    ((*_ORDERED, "BINARY"), "count({})", "BIGINT"),
)
"""The types of the column, the total, and its type: None where it is the column's. Averages are Spark's."""

Columns = Mapping[str, str]


def value(chance: random.Random, columns: Columns) -> tuple[str, str] | None:
    """An expression over one of the columns, and its type; None where none of them fits."""
    fitting = [(text, made, name) for of, text, made in _VALUES for name in columns if columns[name] in of]
    if not fitting:
        return None
    text, made, name = chance.choice(fitting)
    return text.replace("{}", name), made


def condition(chance: random.Random, columns: Columns) -> str:
    """A condition over one or two of the columns."""
    fitting = [
        text.replace("{}", name) for of, text in _CONDITIONS for name in columns if columns[name] in of
    ]
    texts = chance.sample(fitting, min(len(fitting), chance.choice((1, 1, 2))))
    return chance.choice((" AND ", " OR ")).join(f"({text})" for text in texts) if texts else "1 = 1"


def totals(chance: random.Random, columns: Columns) -> dict[str, tuple[str, str]]:
    """Some totals over the columns, by the names of theirs, with their types."""
    fitting = [("count(*)", "BIGINT")]
    fitting += [
        (text.replace("{}", name), made or columns[name])
        for of, text, made in _TOTALS
        for name in columns
        if columns[name] in of
    ]
    return {
        f"t{n}": one for n, one in enumerate(chance.sample(fitting, min(len(fitting), chance.randint(1, 4))))
    }
