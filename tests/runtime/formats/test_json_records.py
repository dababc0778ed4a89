"""What a whole record may be like, and what its neighbours have to do with it."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.formats.record_format import DecodedBatch
from tests.harness.engine.typed_values import shown

COLUMNS = "a BIGINT, s STRING, t TIMESTAMP, d DECIMAL(5, 2), l ARRAY<STRUCT<x: DATE>>"
WITH_MAP = COLUMNS + ", m MAP<STRING, BINARY>"


def read(columns: str, *values: bytes | None) -> DecodedBatch:
    return JsonFormat(parse_columns(columns)).decode(pa.array(values, pa.binary()))


NO_OBJECTS = b"""
null [] [{}] 7 "x" true nul { } }{ {}} {}{} {}x x{} {a:1} {'a':1} [{"a":1}]
{"a":1},{"a":2} {"a":1}null{} {"a":1,} {"a":01} {"a":1}// /**/{"a":1} {"b":1e999} {"b":nan} {"b":[}
""".split()
DIRTY = [b"", b" ", b" null ", b"{} {}", b"{}\n{}", b"{}\0", b'{"a":1\0}', b'{"s":"x\ny"}', b'{"s":"\0"}']
NOT_UTF8 = [
    b"\xff",
    b'{"s":"\xff"}',
    b'{"t":"\xff"}',
    b'{"l":[{"x":"\xff"}]}',
    b'{"a":"\xff"}',
    b"\xef\xbb\xbf{}",
]


@pytest.mark.parametrize("value", [*NO_OBJECTS, *DIRTY, *NOT_UTF8])
@pytest.mark.parametrize("columns", [COLUMNS, WITH_MAP])
def test_what_is_no_object_is_bad_alone_and_among_others(columns: str, value: bytes) -> None:
    assert [each.index for each in read(columns, value).bad] == [0]
    found = read(columns, b'{"a":1}', None, value, value, b'{"a":2}')
    assert [each.index for each in found.bad] == [2, 3]
    assert found.columns.column(0).to_pylist() == [1, None, None, None, 2]
    assert found.good().to_pylist() == [True, True, False, False, True]


@pytest.mark.parametrize(
    "value", [b'{"a":1}', b' {"a":1}\r\n', b'{\n  "a": 1,\n\n  "b": {\n  }\n}\n', b'{"b":{"b":[[[]]]},"a":1}']
)
def test_space_within_and_around_a_record_means_nothing(value: bytes) -> None:
    found = read(COLUMNS, b'{"a":0}', value, value)
    assert found.bad == ()
    assert found.columns.column(0).to_pylist() == [0, 1, 1]


def test_deep_nesting_where_no_column_is_does_no_harm() -> None:
    deep = b'{"a":1,"b":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    assert read(COLUMNS, deep, b'{"a":2}').columns.column(0).to_pylist() == [1, 2]


def test_a_field_that_is_no_column_is_bad_in_a_strict_stream_and_named() -> None:
    columns = parse_columns("page STRING, at STRUCT<x: INT>, l ARRAY<STRUCT<y: INT>>, m MAP<STRING, INT>")
    values = [
        b'{"page":"/","at":{"x":1},"l":[{"y":1}],"m":{"any":1}}',
        b'{"pagee":"/"}',
        b'{"at":{"x":1,"z":2}}',
        b'{"l":[{"y":1},{"why":2}]}',
        b'{"page":"/","Page":"/"}',
    ]
    decoded = JsonFormat(columns, strict=True).decode(pa.array(values * 2, pa.binary()))
    reasons = {
        1: 'pagee: is no column; did you mean "page"?',
        2: 'at.z: is no field of at; there is "x"',
        3: 'l.why: is no field of l; there is "y"',
        4: 'Page: is no column; did you mean "page"?',
    }
    expected = [(row + more, reason) for more in (0, len(values)) for row, reason in reasons.items()]
    assert [(bad.index, bad.reason) for bad in decoded.bad] == expected
    assert decoded.columns.column("page").to_pylist() == ["/", None, None, None, None] * 2
    alone = [JsonFormat(columns, strict=True).decode(pa.array([value])).bad for value in values]
    assert [bad[0].reason if bad else None for bad in alone] == [None, *reasons.values()]
    assert JsonFormat(columns).decode(pa.array(values, pa.binary())).bad == ()


def test_a_record_that_is_cut_short_does_not_swallow_the_next() -> None:
    found = read(COLUMNS, b'{"a":1,"b":{"c":2}', b'{"a":2}', b'{"a":3,"s":"}', b'{"a":4}')
    assert [each.index for each in found.bad] == [0, 2]
    assert found.columns.column(0).to_pylist() == [None, 2, None, 4]


def test_thousands_of_bad_records_are_told_from_the_good_ones() -> None:
    values = [b'{"a":"x"}' if at % 7 == 0 else b'{"a":%d}' % at for at in range(3_000)]
    found = read("a BIGINT", *values)
    assert [each.index for each in found.bad] == list(range(0, 3_000, 7))
    assert found.columns.column(0).to_pylist() == [None if at % 7 == 0 else at for at in range(3_000)]


SCRAPS = rb"""
1 -0 1.5 1e400 99999999999999999999 -Inf Infinity NaN null true [ ] nul 01 +1 [] {} [{"x":1}]
"" "x" "Inf" "2026-01-31" "2026-01-31T12:00:00.123456789Z" "1.25" "\ud83d" "\x"
[{"x":"2026-01-31"}] {"k":"YQ=="} {"k":1} {"k":null,"k":"YQ=="}
""".split()
PAIRS = st.tuples(st.sampled_from("astdlmz"), st.sampled_from([*SCRAPS, b'"\n"', b'"\0"']))


@st.composite
def scribbles(draw: st.DrawFn) -> bytes | None:
    """Records that are nearly right."""
    pairs = draw(st.lists(PAIRS, max_size=3))
    text = "{" + ",".join(f'"{name}":{value.decode()}' for name, value in pairs) + "}"
    return draw(st.sampled_from([text, text, text, text, text + " ", text * 2, text[:-1], "null"])).encode()


@given(values=st.lists(st.none() | scribbles(), max_size=12), columns=st.sampled_from([COLUMNS, WITH_MAP]))
def test_a_record_fares_the_same_alone_and_among_any_others(values: list[bytes | None], columns: str) -> None:
    together = read(columns, *values)
    alone = [read(columns, value) for value in values]
    assert [each.index for each in together.bad] == [at for at, one in enumerate(alone) if one.bad]
    for at, one in enumerate(alone):
        assert shown(together.columns.slice(at, 1)) == shown(one.columns)
