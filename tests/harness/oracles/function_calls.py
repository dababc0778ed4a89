"""Calls and signs that a worker computes, with a column, literal, null or what may fail in each place.

A function that the worker knows and that has no row here fails a test.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Final


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """The texts that stand in a place of an argument."""

    columns: tuple[str, ...]
    literals: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()

    def texts(self, number: int) -> Iterator[tuple[str, str]]:
        """A sort and one text of it, of all sorts; another number chooses other texts."""
        sorts = {
            "column": self.columns,
            "literal": self.literals,
            "null": ("NULL",),
            "may fail": self.may_fail,
        }
        for sort, texts in sorts.items():
            if texts:
                yield sort, texts[number % len(texts)]


@dataclass(frozen=True, slots=True, order=True)
class FunctionCall:
    """A call, or what signs and words make of their operands."""

    form: str  # the function, or the text with brackets for the operands
    sorts: tuple[str, ...]  # of its arguments
    text: str


KINDS: Final = {
    "text": ArgumentKind(("user", "page"), ("'a'", "''", "'-a'"), ("CAST(n - k AS STRING)",)),
    "whole": ArgumentKind(("n", "k"), ("1", "0", "-1", "2147483647"), ("n - k",)),
    "count": ArgumentKind(("n", "k"), ("2", "0", "-2", "1", "-2147483648"), ("-n",)),
    "small": ArgumentKind(
        ("t", "s"), ("CAST(1 AS SMALLINT)",), ("CAST(m AS SMALLINT)", "CAST(n AS TINYINT)")
    ),
    "big": ArgumentKind(("m",), ("2147483648", "-2147483649"), ("m + 1", "m * n")),
    "double": ArgumentKind(("x", "y"), ("1.5", "-0.0", "CAST(2 AS DOUBLE)"), ("x / y",)),
    "float": ArgumentKind(("f",)),
    "decimal": ArgumentKind(("price", "rate"), ("1.5", "-0.01", "100")),
    "truth": ArgumentKind(("ok",), ("true", "false"), ("n > m * m",)),
    "date": ArgumentKind(("day", "eve"), ("DATE '2024-01-31'",)),
    "moment": ArgumentKind(("at",), ("TIMESTAMP '2024-01-31 10:20:30.5'",)),
    "local": ArgumentKind(("due",)),
    "bytes": ArgumentKind(("raw",)),
    "texts": ArgumentKind(("tags",)),
    "wholes": ArgumentKind(("counts",)),
    "doubles": ArgumentKind(("ratios",)),
    "records": ArgumentKind(("visits",)),
    "map": ArgumentKind(("extra",)),
    "map of wholes": ArgumentKind(("names",)),
    "record": ArgumentKind(("of",)),
}
_SCALARS: Final = (
    *(
        "text",
        "whole",
        "big",
        "small",
        "double",
        "float",
        "decimal",
        "truth",
        "date",
        "moment",
        "local",
        "bytes",
    ),
)
_NESTED: Final = ("texts", "wholes", "doubles", "records", "map", "map of wholes", "record")
_NUMBERS: Final = ("whole", "big", "small", "double")


def _of_each(*kinds: str) -> tuple[str, ...]:
    return kinds


def _alike(count: int, *kinds: str) -> tuple[str, ...]:
    """So many arguments of one kind; of a second one, too, which Spark makes the same of."""
    pairs = [
        ("whole", "double"),
        ("small", "big"),
        ("date", "moment"),
        ("decimal", "whole"),
        ("text", "whole"),
    ]
    mixed = (",".join(pair[place % 2] for place in range(count)) for pair in pairs)
    return (*(",".join([kind] * count) for kind in kinds or _SCALARS), *mixed)


_ONE_NUMBER: Final = _of_each(*_NUMBERS, "decimal", "float")
_ENTRIES: Final = (*(f"{of},count" for of in _NESTED), "map,text")
_THREE_ALIKE: Final = _alike(3, "text", "whole", "decimal", "date")
_PAIR_OF_NUMBERS: Final = tuple(",".join(pair) for pair in product((*_NUMBERS, "decimal"), repeat=2))
_COMPARED: Final = (*_alike(2), "texts,texts", "record,record", "big,decimal", "moment,local")
SIGNATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "if": tuple(f"truth,{kinds}" for kinds in _alike(2)),
    "mod": _PAIR_OF_NUMBERS,
    **dict.fromkeys(("abs", "floor", "ceil", "ceiling", "sign", "signum"), _ONE_NUMBER),
    **dict.fromkeys(("greatest", "least"), (*_alike(2), *_alike(3))),
    "concat": (*_alike(2), *_alike(3, "text", "whole"), *_SCALARS),
    **dict.fromkeys(
        (
            *("length", "char_length", "character_length", "trim", "ltrim", "rtrim", "reverse", "ascii"),
            *("upper", "ucase", "lower", "lcase", "octet_length", "bit_length", "md5", "sha", "sha1", "hex"),
            "crc32",
        ),
        _of_each("text", "bytes", "whole"),
    ),
    **dict.fromkeys(("substring", "substr"), ("text,count", "text,count,count", "bytes,count")),
    **dict.fromkeys(("left", "right", "repeat"), ("text,count",)),
    "replace": ("text,text", "text,text,text"),
    **dict.fromkeys(("lpad", "rpad"), ("text,count", "text,count,text")),
    "concat_ws": ("text,text", "text,text,text", "text,texts", "text,whole"),
    **dict.fromkeys(("startswith", "endswith", "contains", "instr"), ("text,text",)),
    **dict.fromkeys(("locate", "position"), ("text,text", "text,text,count")),
    **dict.fromkeys(("split_part", "substring_index"), ("text,text,count",)),
    "translate": ("text,text,text",),
    "sha2": ("text,count", "bytes,count"),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "double", "boolean"), (*_ONE_NUMBER, "truth")),
    "string": (*_SCALARS, *_NESTED),
    "coalesce": (*_SCALARS, *_alike(2), *_THREE_ALIKE),
    **dict.fromkeys(("nvl", "ifnull", "nullif", "equal_null"), _COMPARED),
    **dict.fromkeys(("isnull", "isnotnull"), (*_SCALARS, *_NESTED)),
    "isnan": _of_each(*_NUMBERS, "float", "text"),
    "nvl2": ("whole,text,text", "text,whole,double", "text,date,date"),
    **dict.fromkeys(("zeroifnull", "nullifzero"), (*_NUMBERS, "decimal")),
    **dict.fromkeys(("get", "element_at"), _ENTRIES),
    **dict.fromkeys(("size", "cardinality"), _NESTED),
    "array_contains": ("texts,text", "wholes,whole", "doubles,double", "records,record"),
}
"""By function, the kinds of its arguments, of each of its forms."""

SIGNS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} % {}", "{} div {}"), _PAIR_OF_NUMBERS),
    "-{}": _ONE_NUMBER,
    "{} || {}": (*_alike(2), "text,date"),
    **dict.fromkeys(("{} = {}", "{} <=> {}", "{} <> {}", "{} < {}", "{} >= {}"), (*_COMPARED, "big,double")),
    "{} BETWEEN {} AND {}": _alike(3, "text", "whole", "double", "decimal", "date", "moment"),
    "{} IN ({}, {})": _alike(3, "text", "whole", "big", "double", "truth"),
    **dict.fromkeys(("{} LIKE {}", "{} NOT LIKE {}"), ("text,text",)),
    **dict.fromkeys(("{} AND {}", "{} OR {}"), ("truth,truth",)),
    "NOT {}": ("truth",),
    **dict.fromkeys(("{} IS NULL", "{} IS NOT NULL"), (*_SCALARS, *_NESTED)),
    "CASE WHEN {} THEN {} ELSE {} END": tuple(f"truth,{kinds}" for kinds in _alike(2)),
    "CASE {} WHEN {} THEN {} END": tuple(f"{kinds},text" for kinds in _alike(2)),
    "position({} IN {})": ("text,text",),
    "{}[{}]": _ENTRIES,
    **{
        f"CAST({{}} AS {kind})": _SCALARS
        for kind in ("INT", "BIGINT", "SMALLINT", "DOUBLE", "STRING", "BOOLEAN")
    },
}
"""What is written with signs and words, and the kinds of what stands in it."""


def calls() -> Iterator[FunctionCall]:
    """The calls of all forms, with every sort of argument in every place."""
    for form, signatures in chain(SIGNATURES.items(), SIGNS.items()):
        for number, signature in enumerate(signatures):
            places = [KINDS[kind].texts(number + place) for place, kind in enumerate(signature.split(","))]
            for arguments in product(*places):
                sorts, texts = zip(*arguments, strict=True)
                yield FunctionCall(form, sorts, _written(form, texts))


def _written(form: str, texts: tuple[str, ...]) -> str:
    if "{}" in form:
        return form.format(*(f"({text})" if " " in text and "'" not in text else text for text in texts))
    return f"{form}({', '.join(texts)})"
