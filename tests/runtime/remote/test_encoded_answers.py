"""What classes give, as rows of tables: a list or a batch, the same rows come of both."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote.encoded_answers import encoded_answers
from streamapp_runtime.rows.row_decoder import decode

COLUMNS = pa.schema([("price", pa.float64()), ("name", pa.string())])
KEYS = pa.array([b"a", b"b", b"c"])
Row = dict[str, Any]

rows = st.fixed_dictionaries(
    {"price": st.none() | st.floats(allow_nan=False), "name": st.none() | st.text(max_size=5)}
)
tables = st.dictionaries(st.sampled_from([b"a", b"b", b"c"]), rows)


def as_rows(answer: object) -> list[Row | None]:
    values = encoded_answers(answer, KEYS, COLUMNS, "m:C")
    found = iter(decode(values.drop_null(), COLUMNS).to_pylist())
    return [next(found) if there else None for there in values.is_valid().to_pylist()]


@given(tables, st.randoms())
def test_each_key_has_its_row_whether_a_list_or_a_batch_was_given(
    table: dict[bytes, Row], random: Any
) -> None:
    expected = [table.get(key) for key in KEYS.to_pylist()]
    assert as_rows(expected) == expected
    shuffled = list(table)
    random.shuffle(shuffled)
    columns = {name: [table[key][name] for key in shuffled] for name in COLUMNS.names}
    batch = pa.table(columns, COLUMNS).append_column("__key", pa.array(shuffled, pa.binary()))
    made = batch.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], batch.schema)]
    assert as_rows(made[0]) == expected


def test_a_column_that_a_row_does_not_name_is_null() -> None:
    assert as_rows([{}, None, {"name": "x", "other": 1}]) == [
        {"price": None, "name": None},
        None,
        {"price": None, "name": "x"},
    ]


def test_keys_may_come_as_texts() -> None:
    batch = pa.record_batch({"__key": ["b"], "price": [1.0], "name": ["x"]})
    assert as_rows(batch) == [None, {"price": 1.0, "name": "x"}, None]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([None], "gave 1 answers for 3 keys"),
        ([1, None, None], "gave a int for a key"),
        ([{"price": "much"}, None, None], "do not fit the columns"),
        ("abc", "gave a str; get_many gives a list"),
        (None, "gave a NoneType"),
        (pa.record_batch({"price": [1.0], "name": ["x"]}), "gave no column __key"),
        (pa.record_batch({"__key": ["z"], "price": [1.0], "name": ["x"]}), "that was not asked for"),
        (pa.record_batch({"__key": ["a", "a"], "price": [1.0] * 2, "name": ["x"] * 2}), "for a key twice"),
    ],
)
def test_an_answer_of_another_kind_is_the_classs_error(answer: object, why: str) -> None:
    with pytest.raises(UserCodeError, match=why):
        as_rows(answer)
