import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.jobmodel.packed_columns import (
    ColumnReader,
    ColumnWriter,
    MalformedColumnsError,
    split_at_number,
)

WORDS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(max_size=6) | st.from_regex(r"[ab]?0?[0-9]{0,25}c?", fullmatch=True)


@given(st.lists(WORDS, max_size=9), st.lists(TEXTS, max_size=9), st.lists(st.binary(max_size=5), max_size=9))
def test_columns_come_out_in_the_order_in_which_they_went_in(
    numbers: list[int], texts: list[str], raw: list[bytes]
) -> None:
    writer = ColumnWriter()
    writer.numbers(numbers)
    writer.names(texts)
    writer.raw(raw)
    writer.choices(texts)
    writer.steps([number // 4 for number in numbers])
    reader = ColumnReader(writer.packed())
    assert reader.numbers() == numbers
    assert reader.names() == texts
    assert reader.raw() == raw
    assert reader.choices() == texts
    assert reader.steps() == [number // 4 for number in numbers]
    reader.end()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Partition 7", ("Partition ", 7, "")),
        ("SystemStreamPartition [kafka, views, 12]", ("SystemStreamPartition [kafka, views, ", 12, "]")),
        ("orders", ("orders", -1, "")),
        ("007", ("00", 7, "")),
        ("00", ("0", 0, "")),
        ("١٢", ("١٢", -1, "")),
        ("9" * 20, ("99", 999999999999999999, "")),
    ],
)
def test_a_name_is_taken_apart_around_its_last_number(name: str, parts: tuple[str, int, str]) -> None:
    assert split_at_number(name) == parts


@given(TEXTS)
def test_a_name_can_always_be_put_together_again(name: str) -> None:
    before, number, after = split_at_number(name)
    assert name == (before if number < 0 else f"{before}{number}{after}")


def test_names_that_count_cost_next_to_nothing() -> None:
    writer = ColumnWriter()
    writer.names([f"SystemStreamPartition [kafka, views, {number}]" for number in range(100_000)])
    assert len(writer.packed()) < 2_000


def test_a_column_that_was_not_read_is_noticed() -> None:
    writer = ColumnWriter()
    writer.numbers([1])
    with pytest.raises(MalformedColumnsError, match="after the last column"):
        ColumnReader(writer.packed()).end()


def test_a_place_outside_its_table_is_refused() -> None:
    writer = ColumnWriter()
    writer.texts(["only"])
    writer.numbers([1])
    with pytest.raises(MalformedColumnsError, match="outside a table of 1"):
        ColumnReader(writer.packed()).choices()
