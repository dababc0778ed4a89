import pyarrow as pa
import pytest
from hypothesis import given

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.stream_format import open_format
from tests.harness.engine.typed_values import TEXTS, Kind, Rows, rows, shown


@given(made=rows())
@pytest.mark.parametrize("name", ["json", "columns"])
def test_rows_of_any_columns_come_back_as_they_were(name: str, made: Rows) -> None:
    form = open_format(name, made.columns)
    found = form.decode(form.encode(made.batch))
    assert found.bad == ()
    assert found.columns.schema == form.schema
    assert shown(found.columns) == shown(made.batch)


@given(made=rows([Kind("STRING", TEXTS)]))
def test_avro_gives_back_rows_whose_maps_have_texts_as_keys(made: Rows) -> None:
    form = open_format("avro", made.columns)
    found = form.decode(form.encode(made.batch))
    assert found.bad == ()
    assert shown(found.columns) == shown(made.batch)


@given(made=rows())
@pytest.mark.parametrize("name", ["json", "columns"])
def test_a_part_of_a_batch_is_written_like_the_whole(name: str, made: Rows) -> None:
    form = open_format(name, made.columns)
    part = made.batch.slice(1, 3)
    assert form.encode(part).to_pylist() == form.encode(made.batch).to_pylist()[1:4]


@pytest.mark.parametrize("name", ["json", "avro", "columns"])
@pytest.mark.parametrize("values", [[], [None], [None, None]])
def test_a_null_value_is_a_row_of_nulls_and_not_bad(name: str, values: list[None]) -> None:
    form = open_format(name, parse_columns("a BIGINT, b STRING"))
    found = form.decode(pa.array(values, pa.binary()))
    assert found.bad == ()
    assert found.columns.to_pylist() == [{"a": None, "b": None}] * len(values)
    assert found.good().to_pylist() == [True] * len(values)
