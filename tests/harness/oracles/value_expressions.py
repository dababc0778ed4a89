"""Expressions over the columns of `value_rows`: all that a worker computes, and some that it does not."""

from hypothesis import strategies as st

_NUMBERS = st.sampled_from(
    [
        *("n", "n", "k", "m", "m", "t", "s", "x", "y", "0", "1", "2", "-1", "7", "127", "2147483647"),
        *("-2147483648", "2147483648", "1.5", "0.0", "-0.0", "0.1", "NULL"),
    ]
)
_TEXTS = st.sampled_from(["user", "page", "'a'", "''", "' '", "'é'", "NULL", "CAST(NULL AS STRING)"])
_CONDITIONS = st.sampled_from(["ok", "NOT ok", "true", "false", "user IS NULL", "n IS NOT NULL", "NULL"])
_TYPES = st.sampled_from(["INT", "BIGINT", "DOUBLE", "STRING", "SMALLINT", "TINYINT", "integer", "BOOLEAN"])
_CASTS = st.sampled_from(["int", "bigint", "double", "smallint", "TINYINT", "string", "boolean"])
_SIGNS = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "!=", "=="])


def case_of(value: st.SearchStrategy[str], condition: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, condition, value, value),
        st.builds("CASE WHEN {} THEN {} WHEN {} THEN {} END".format, condition, value, condition, value),
        st.builds("CASE {} WHEN {} THEN {} ELSE {} END".format, value, value, value, value),
        st.builds("if({}, {}, {})".format, condition, value, value),
        st.builds("coalesce({}, {})".format, value, value),
        st.builds("coalesce({}, {}, {})".format, value, value, value),
        st.builds("nvl({}, {})".format, value, value),
        st.builds("nvl2({}, {}, {})".format, value, value, value),
        st.builds("NULLIF({}, {})".format, value, value),
        st.builds("({})".format, value),
    )


_DOUBLES = st.sampled_from(["0.0", "-0.0", "0.1", "1.5", "-3", "9007199254740993", "0"])
_WHOLE_VALUES = ("at", "due", "day", "f", "raw", "price", "rate")
"""Columns of types of which values are given on and compared."""
whole_values = st.sampled_from(_WHOLE_VALUES).flatmap(
    lambda name: st.sampled_from([st.just(name), case_of(st.just(name) | st.just("NULL"), _CONDITIONS)])
)


_TIMES = st.one_of(
    st.sampled_from(["day", "eve", "DATE '2024-02-29'", "DATE '26-1-1'"]),
    st.sampled_from(["at", "due", "TIMESTAMP '2026-02-28 12:30:00.5'", "TIMESTAMP '2026-02-28'"]),
)
OF_TIMES = st.one_of(
    st.builds("{} {} {}".format, _TIMES, _SIGNS, _TIMES),
    st.builds("{} BETWEEN {} AND {}".format, _TIMES, _TIMES, _TIMES),
    case_of(_TIMES, _CONDITIONS),
    st.builds("CAST({} AS STRING)".format, _TIMES),
    st.builds("year({})".format, _TIMES),
)
"""Comparisons, choices and texts of days and moments; all else of them is for Spark."""


_INDICES = st.sampled_from(["0", "1", "-1", "2", "n", "t", "of.n", "size(counts) - 1", "NULL", "m"])
_ARRAYS = st.sampled_from(["tags", "counts", "ratios", "visits"])
_ELEMENTS = st.builds(
    "{}".format,
    st.one_of(
        st.builds("{}[{}]".format, _ARRAYS, _INDICES),
        st.builds("{}({}, {})".format, st.sampled_from(["get", "element_at"]), _ARRAYS, _INDICES),
    ),
)
_NUMBER_PARTS = st.one_of(
    st.sampled_from(["of.n", "extra['a']", "extra.b", "element_at(extra, 'a')", "of.deep.x", "visits[0].m"]),
    st.builds(
        "{}({})".format,
        st.sampled_from(["size", "cardinality"]),
        _ARRAYS | st.sampled_from(["extra", "names"]),
    ),
    st.builds("counts[{}]".format, _INDICES),
    st.builds("get(counts, {})".format, _INDICES),
    st.builds("element_at(ratios, {})".format, _INDICES),
    st.builds("get(visits, {}).m".format, _INDICES),
)
_TEXT_PARTS = st.one_of(
    st.sampled_from(["of.`a b`", "names[1]", "names[-1]", "element_at(names, 0)", "visits[1].page"]),
    st.builds("tags[{}]".format, _INDICES),
    st.builds("get(tags, {})".format, _INDICES),
    st.builds("element_at(tags, {})".format, _INDICES),
    st.builds("get(visits, {}).page".format, _INDICES),
)
_TESTS_OF_PARTS = st.one_of(
    st.builds(
        "array_contains(tags, {})".format,
        st.sampled_from(["'a'", "user", "of.`a b`", "get(tags, 0)", "NULL"]),
    ),
    st.builds("array_contains(counts, {})".format, st.sampled_from(["1", "n", "of.n", "m"])),
    st.builds("array_contains(ratios, {})".format, st.sampled_from(["x", "0.0", "y"])),
    st.builds("({}) IS {}NULL".format, _ELEMENTS | st.just("of.deep"), st.sampled_from(["", "NOT "])),
)
PARTS = st.one_of(
    _NUMBER_PARTS,
    _TEXT_PARTS,
    _TESTS_OF_PARTS,
    _ELEMENTS,
    st.sampled_from(["of.deep", "of.deep.day", "visits[0]"]),
)


_PLACES = st.sampled_from(["0", "1", "2", "3", "5", "-1", "-2", "-3", "2147483647", "-2147483648"])
_LITERALS = st.sampled_from(["'a'", "'b'", "''", "'aa'", "'aé '", "'́'", "' '", "'😀b'", "'-'"])
_BYTES = st.just("raw")


_DECIMAL_VALUES = st.sampled_from(
    [
        *("price", "rate", "price", "rate", "n", "m", "t", "1", "0", "-1", "100", "10000000", "1.5", "0.05"),
        *("1.50", "-0.5", "0.0", "1.505", "9999999.99", "99999999999.5", "int(1)", "x", "NULL"),
    ]
)


def decimals(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _DECIMAL_VALUES
    inner = decimals(depth - 1)
    return st.one_of(
        st.builds("{} {} {}".format, inner, st.sampled_from("+-**"), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        case_of(inner, _CONDITIONS),
    )


def of_decimals(depth: int) -> st.SearchStrategy[str]:
    """Decimals, and comparisons with them."""
    of = decimals(depth - 1)
    return st.one_of(
        decimals(depth),
        st.builds("{} {} {}".format, of, _SIGNS, of),
        st.builds("{} {} {}".format, of, _SIGNS, _DECIMAL_VALUES),
        st.builds("{} BETWEEN {} AND {}".format, of, of, of),
        st.builds("({} {} {}) AND ok".format, of, _SIGNS, of),
        case_of(decimals(0), st.builds("{} {} {}".format, of, _SIGNS, of)),
    )


def conditions(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _CONDITIONS
    inner, number, text = conditions(depth - 1), numbers(depth - 1), texts(depth - 1)
    return st.one_of(
        inner,
        st.builds("{} {} {}".format, number, _SIGNS, number),
        st.builds("{} {} {}".format, text, _SIGNS, text),
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR", "="]), inner),
        st.builds("NOT ({})".format, inner),
        st.builds("({}) IS {}NULL".format, number | st.just("of"), st.sampled_from(["", "NOT "])),
        st.builds("{} {}BETWEEN {} AND {}".format, number, st.sampled_from(["", "NOT "]), number, number),
        st.builds("{} BETWEEN {} AND {}".format, text, text, text),
        st.builds("{}({})".format, st.sampled_from(["isnull", "isNotNull"]), number | text | whole_values),
        st.builds("isnan({})".format, number | st.just("f")),
        st.builds("equal_null({}, {})".format, number, number),
        st.builds("boolean({})".format, inner | text),
        st.builds("({})::BOOLEAN".format, inner | text),
        st.builds("{} <=> {}".format, number, number),
        st.builds("{} <=> {}".format, text, text),
        st.builds("x {}IN ({}, {}, 1)".format, st.sampled_from(["", "NOT "]), _DOUBLES, _DOUBLES),
        whole_values.flatmap(lambda of: st.builds("{} {} {}".format, of, _SIGNS | st.just("<=>"), of)),
        whole_values.flatmap(lambda of: st.builds("({}) IS NULL".format, of)),
        st.builds("{} IN ({}, 1)".format, number, st.sampled_from(["0", "-1", "3000000000"])),
        st.builds("{} LIKE {}".format, text, st.sampled_from(["'a%'", "'%a'", "'%a%'", "'a'"])),
        st.builds("{} LIKE '{}'".format, text, _PATTERNS),
        st.builds("{} NOT LIKE '{}' ESCAPE '{}'".format, text, _PATTERNS, st.sampled_from("!!!%_")),
        st.builds("{}({}, 'a')".format, st.sampled_from(["startswith", "endsWith", "contains"]), text),
        _TESTS_OF_PARTS,
        case_of(inner, inner),
    )


def numbers(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _NUMBERS
    inner, text = numbers(depth - 1), texts(depth - 1)
    return st.one_of(
        inner,
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "-", "*", "/", "+", "-", "*"]), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("-{}".format, inner.filter(lambda text: not text.startswith("-"))),
        st.builds("CAST({} AS {})".format, inner, _TYPES),
        st.builds("{}({})".format, _CASTS, inner | text),
        st.builds("{}::{}".format, _NUMBERS, _TYPES),
        st.builds("({})::{}".format, inner | text, _TYPES),
        st.builds("{}({})".format, st.sampled_from(["zeroifnull", "nullifzero"]), inner),
        st.builds("length({})".format, text),
        st.builds("instr({}, {})".format, text, _LITERALS),
        st.builds("{}({}, {})".format, st.sampled_from(["locate", "position"]), _LITERALS, text),
        st.builds("locate({}, {}, {})".format, _LITERALS, text, _PLACES),
        st.builds("position({} IN {})".format, _LITERALS, text),
        st.builds("{}({})".format, st.sampled_from(["ascii", "crc32"]), text),
        st.builds("{}({})".format, st.sampled_from(["octet_length", "bit_length", "crc32"]), text | _BYTES),
        st.builds("{} {} {}".format, inner, st.sampled_from(["%", "div"]), inner),
        st.builds(
            "{} {} {}".format, inner, st.sampled_from(["/", "%", "DIV"]), st.sampled_from(["-1", "2", "1.5"])
        ),
        st.builds("mod({}, {})".format, inner, inner),
        st.builds(
            "{}({})".format, st.sampled_from(["abs", "floor", "ceil", "ceiling", "sign", "signum"]), inner
        ),
        st.builds("{}({}, {})".format, st.sampled_from(["greatest", "least"]), inner, inner),
        st.builds("greatest({}, {}, {})".format, inner, inner, inner),
        _NUMBER_PARTS,
        case_of(inner, conditions(depth - 1)),
    )


_PADS = st.sampled_from(["'a'", "'xyz'", "''", "'\u0301'"])
_PATTERNS = st.lists(st.sampled_from("a%_b!.\u00e9\n"), max_size=5).map("".join)


def texts(depth: int) -> st.SearchStrategy[str]:
    if not depth:
        return _TEXTS
    inner = texts(depth - 1)
    return st.one_of(
        inner,
        st.builds("{} || {}".format, inner, inner),
        st.builds(
            "{} || {}".format, inner, numbers(depth - 1) | st.sampled_from(["at", "day", "ok", "f", "raw"])
        ),
        st.builds("{}({}, {})".format, st.sampled_from(["greatest", "least"]), inner, inner),
        st.builds("concat({}, {}, {})".format, inner, inner, inner),
        st.builds("{}({})".format, st.sampled_from(["trim", "ltrim", "RTRIM"]), inner),
        st.builds("substring({}, {})".format, inner, _PLACES),
        st.builds("substr({}, {}, {})".format, inner, _PLACES, _PLACES),
        st.builds("{}({}, {})".format, st.sampled_from(["left", "right", "repeat", "lpad"]), inner, _PLACES),
        st.builds("{}({})".format, st.sampled_from(["upper", "lower", "ucase", "LCASE"]), inner),
        st.builds("replace({}, {})".format, inner, st.sampled_from(["'a'", "'ab', 'a'", "'aa', 'b'", "''"])),
        st.builds("{}({}, {}, {})".format, st.sampled_from(["lpad", "rpad"]), inner, _PLACES, _PADS),
        st.builds("concat_ws({}, {}, {})".format, _PADS, inner, inner),
        st.builds("reverse({})".format, inner),
        st.builds("split_part({}, {}, {})".format, inner, _LITERALS, _PLACES),
        st.builds("substring_index({}, {}, {})".format, inner, _LITERALS, _PLACES),
        st.builds("translate({}, {}, {})".format, inner, _LITERALS, _LITERALS),
        st.builds("{}({})".format, st.sampled_from(["md5", "sha", "sha1", "hex"]), inner | _BYTES),
        st.builds(
            "sha2({}, {})".format, inner | _BYTES, st.sampled_from(["0", "224", "256", "384", "512", "1"])
        ),
        st.builds("CAST({} AS STRING)".format, numbers(depth - 1) | conditions(depth - 1)),
        st.builds("string({})".format, numbers(depth - 1) | conditions(depth - 1) | st.just("at")),
        _TEXT_PARTS,
        case_of(inner, conditions(depth - 1)),
    )


EXPRESSIONS = st.one_of(
    *(kind(depth) for kind in (numbers, texts, conditions) for depth in (1, 2, 3)),
    *(numbers(2), numbers(2), conditions(2)),
    *(PARTS, PARTS),
    OF_TIMES,
    *(of_decimals(1), of_decimals(2)),
    st.sampled_from(_WHOLE_VALUES).flatmap(
        lambda name: case_of(st.sampled_from([name, "NULL"]), _CONDITIONS)
    ),
)
