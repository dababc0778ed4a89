"""The hashes that stores of earlier versions carry: another hash for the same state is state that is lost."""

from dataclasses import replace

import pyarrow as pa
import pytest

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.lanes.task_stores.side_input_specs import side_input_store_specs
from streamapp_runtime.operators.aggregate.totals_operation import PartialTotal, Span, Totals
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.operation_table import state_schema_hash
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.operators.user_code.user_operations import ProcessRows
from streamapp_runtime.program.program import PlacedOperation, Program, TableColumns
from tests.harness.engine.compiled_apps import app

LEFT = pa.schema([("x", pa.int64()), ("y", pa.string()), ("z", pa.list_(pa.int64()))])
RIGHT = LEFT.remove(2)
PARTIALS = (PartialTotal("sum", 0, "BIGINT"), PartialTotal("count", None, "BIGINT"))
RUNNING = Totals("sums", (), False, PARTIALS, None, "onUpdate", 0, (3,))
BY_Y = replace(RUNNING, key=(1,), emit="onWatermark")
HOPPING = Span("hopping", 60_000, 10_000)


@pytest.mark.parametrize(
    ("operation", "known"),
    [
        (RUNNING, "ba66d43be5e3d370ea999c7ea8a70101"),
        (replace(RUNNING, key=(0, 1), composed=True), "dce39bc2244db65222f9cf50dea69677"),
        (replace(BY_Y, window=Span("tumbling", 60_000, 60_000)), "17831a7753168347698520f164ebeee2"),
        (
            replace(BY_Y, composed=True, emit="onUpdate", window=HOPPING),
            "f169412d048c23c6383bb53db3946e4c",
        ),
        (replace(BY_Y, window=Span("session", 30_000, 0)), "688b113d7b86b48d1d99a80383915b3f"),
        (JoinStreams("joined", "left", 1_000, "event", (0,)), "acb6898f7190a9fce2d0d1c8f5709c30"),
        (JoinStreams("joined", "inner", 0, "arrival", (0,)), "2dd1993ca2c938e178e9a6ec97764b47"),
        (
            ProcessRows("visits", "tests.harness.user_code.operator_code:Visits", ()),
            "9ec70dce84b0321fc230c200a2aaa384",
        ),
    ],
)
def test_an_operators_own_state_has_the_hash_of_the_versions_before(operation, known):
    given = [LEFT, RIGHT] if isinstance(operation, JoinStreams) else [LEFT]
    assert state_schema_hash(operation, given) == known


COLUMNS = (Column("id", "STRING"), Column("tier", "DECIMAL(10,2)"), Column("at", "TIMESTAMP"))
STREAM = {"name": "users", "columns": "id STRING, tier DECIMAL(10,2), at TIMESTAMP"}


@pytest.mark.parametrize(
    ("read", "side", "known"),
    [
        (
            Read("users", "log", "users", StreamRole.SIDE_INPUT, "json", COLUMNS, table="tiers"),
            {},
            "31a32eeee5c4571e7123712453b7cc07",
        ),
        (
            Read(
                "users",
                "log",
                "people",
                StreamRole.SIDE_INPUT,
                "json",
                COLUMNS,
                key="id",
                event_time="at",
                table="tiers",
                control=True,
                versions="endOfStream",
            ),
            {"versions": "endOfStream", "key": "id", "value": "id, tier, at", "bootstrap": False},
            "60f805a49767e75aa0e47d5c1224669f",
        ),
    ],
)
def test_a_table_of_side_inputs_has_the_hash_of_the_versions_before(read, side, known):
    shop = app(
        {"name": "sent", "filter": {"from": "views", "where": "n > 0"}},
        streams=[STREAM, {"name": "views", "columns": "n INT"}],
        tables=[{"name": "tiers", "sideInputs": [{"stream": "users", **side}]}],
    )
    program = Program((PlacedOperation(read.name, read, (), ()),), (), (TableColumns("tiers", COLUMNS),))
    assert side_input_store_specs(shop, program)["tiers"].meaning == known


CHANGES = {"format": "debezium", "timestamps": "milliseconds"}
OPTIONS = [
    {},
    {"timestamps": "seconds"},
    {"timestamps": "milliseconds"},
    {"strict": True},
    CHANGES | {"decimals": "text"},
    CHANGES | {"decimals": "base64"},
    CHANGES | {"decimals": "base64", "flattened": True},
    {"format": "csv"},
    {"format": "csv", "csv": {"delimiter": ";"}},
    {"format": "csv", "csv": {"nullText": "NULL"}},
]


def test_a_table_that_was_filled_under_other_options_of_a_format_is_filled_again():
    meanings = set()
    for options in OPTIONS:
        role, form = StreamRole.SIDE_INPUT, options.get("format", "json")
        read = Read("users", "log", "users", role, form, COLUMNS, table="tiers")
        shop = app(
            {"name": "sent", "filter": {"from": "views", "where": "n > 0"}},
            streams=[STREAM | options, {"name": "views", "columns": "n INT"}],
            tables=[{"name": "tiers", "sideInputs": [{"stream": "users"}]}],
        )
        program = Program((PlacedOperation(read.name, read, (), ()),), (), (TableColumns("tiers", COLUMNS),))
        meanings.add(side_input_store_specs(shop, program)["tiers"].meaning)
    assert len(meanings) == len(OPTIONS)
