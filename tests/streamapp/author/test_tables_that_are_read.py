"""Tables that an app reads: where they may stand, and how their partitions meet those of streams."""

from typing import Any

import pytest

from streamapp.author.app_streams import imports, outboxes
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import PlanningInputs, propose
from streamapp.author.start_problems import start_problems
from streamapp.spec.parser import parse_data
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from tests.harness.core.app_resources import app_resource

KAFKA = {"name": "main", "kafka": {"bootstrapServers": "kafka:9092"}}
FILES = {"name": "lake", "files": {"path": "lake", "format": "parquet"}}
DELTA = {"name": "lake", "delta": {"path": "lake"}}
PYTHON = {"name": "lake", "python": {"sink": "shop.sinks:FileSink"}}
COLUMNS = {"columns": "id STRING, name STRING", "key": "id"}
TABLE = {"name": "users", "columns": "id STRING, name STRING", "sideInputs": [{"stream": "names"}]}
JOINED = {"name": "named", "joinTable": {"from": "orders", "table": "users", "select": "id, name"}}


def read_app(system: dict[str, Any] = FILES, mode: str = "stream", **table: Any) -> StreamApp:
    """An app that joins a stream with a table, and in batch mode reads the table too."""
    operators: list[dict[str, Any]] = [JOINED, {"name": "send", "sendTo": {"from": "named", "stream": "out"}}]
    if mode == "batch":
        operators.append({"name": "copy", "sendTo": {"from": "names", "stream": "copied"}})
    spec = {
        "mode": mode,
        "systems": [KAFKA, system],
        "streams": [
            {"name": "orders", "system": "main", "columns": "id STRING", "key": "id"},
            {"name": "names", "system": "lake", **COLUMNS, **table},
            {"name": "out", "system": "main"},
            {"name": "copied", "system": "main"},
        ],
        "tables": [
            {"name": "users", "columns": "id STRING, name STRING", "sideInputs": [{"stream": "names"}]}
        ],
        "operators": operators,
    }
    parsed = parse_data(
        {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "a"}, "spec": spec}
    )
    assert not parsed.problems, parsed.problems
    return parsed.apps[0]


def with_more(app: StreamApp, operator: dict[str, Any]) -> StreamApp:
    data = dict(as_data(app))
    spec = data["spec"] | {"operators": [*data["spec"]["operators"], operator]}
    return parse_data(data | {"spec": spec}).apps[0]


def messages(app: StreamApp) -> dict[str, tuple[Reason, str]]:
    return {one.path: (one.reason, one.message) for one in start_problems(app)}


@pytest.mark.parametrize("system", [FILES, DELTA])
@pytest.mark.parametrize("mode", ["stream", "batch"])
def test_a_table_may_fill_a_table_in_any_app_and_be_an_input_of_a_batch_app(
    system: dict[str, Any], mode: str
) -> None:
    app = read_app(system, mode, partitions=4)
    assert messages(app) == {}
    assert imports(app) == {"names": f"{app.application_id}.names.import"}
    assert outboxes(app) == {}


def test_a_sink_of_the_apps_own_is_not_read() -> None:
    reason, message = messages(read_app(PYTHON))["spec.streams[1].system"]
    assert (reason, "only written to" in message) == (Reason.INVALID_GRAPH, True)


def test_a_table_that_is_written_is_not_read_under_the_same_name() -> None:
    app = with_more(read_app(DELTA), {"name": "back", "sendTo": {"from": "named", "stream": "names"}})
    reason, message = messages(app)["spec.streams[1].system"]
    assert (reason, message.endswith("declare two streams of it")) == (Reason.INVALID_GRAPH, True)


def test_files_are_not_written() -> None:
    app = with_more(read_app(), {"name": "back", "sendTo": {"from": "named", "stream": "names"}})
    reason, message = messages(app)["spec.operators[2].sendTo.stream"]
    assert (reason, message.endswith("use delta")) == (Reason.INVALID_GRAPH, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("primaryKey", ["id"]),
        ("metadata", {"offset": "at"}),
        ("start", "latest"),
        ("carriesWatermarks", True),
        ("format", "csv"),
        ("columns", None),
    ],
)
def test_what_only_records_have_is_refused(field: str, value: Any) -> None:
    app = read_app(mode="batch", **{field: value, **({"key": None} if field == "columns" else {})})
    assert f"spec.streams[1].{field}" in messages(app)


def test_a_table_is_one_version() -> None:
    data = dict(as_data(read_app()))
    side = {"stream": "names", "versions": "nullKey"}
    spec = data["spec"] | {"tables": [TABLE | {"sideInputs": [side]}]}
    _, message = messages(parse_data(data | {"spec": spec}).apps[0])["spec.tables[0].sideInputs[0].versions"]
    assert message.endswith("leave it out")


@pytest.mark.parametrize("partitions", [None, 3])
def test_a_join_needs_as_many_partitions_as_its_stream_has(partitions: int | None) -> None:
    app = read_app(partitions=partitions)
    inputs = PlanningInputs({"orders": 3, "out": 3})
    proposal = propose(app, inputs)
    assert proposal.plan.streams["names"].because.counted_by == "the resource"
    problems = [one.message for one in proposal_problems(app, proposal)]
    assert bool(problems) is (partitions is None)
    assert all("orders has 3; say partitions: 3 of stream names; or " in one for one in problems), problems


def test_a_table_that_is_refreshed_fills_a_table_in_versions() -> None:
    app = read_app(refresh="10m")
    assert not messages(app)
    assert app.spec.in_versions(app.spec.tables[0])
    assert not read_app().spec.in_versions(read_app().spec.tables[0])


def test_what_cannot_be_refreshed_is_refused() -> None:
    assert "spec.streams[1].refresh" in messages(read_app(mode="batch", refresh="10m"))
    data = dict(as_data(read_app(refresh="10m")))
    streams = [data["spec"]["streams"][0] | {"refresh": "1m"}, *data["spec"]["streams"][1:]]
    problems = messages(parse_data(data | {"spec": data["spec"] | {"streams": streams}}).apps[0])
    assert problems["spec.streams[0].refresh"][1].endswith("leave it out")
    tables = [data["spec"]["tables"][0] | {"visibility": "sameBatch"}]
    assert "spec.tables[0].visibility" in messages(
        parse_data(data | {"spec": data["spec"] | {"tables": tables}}).apps[0]
    )


def history_app(**orders: Any) -> StreamApp:
    """An app that goes on with a topic where its history in a table ends."""
    columns = {"columns": "id STRING, n INT", "key": "id"}
    resource = app_resource(
        [
            {"name": "all", "merge": {"from": ["history", "orders"]}},
            {"name": "send", "sendTo": {"from": "all", "stream": "out"}},
        ],
        [
            {"name": "history", "system": "lake", **columns},
            {"name": "orders", "system": "main", **columns, "after": "history", **orders},
            {"name": "out", "system": "main"},
        ],
        systems=[KAFKA, FILES],
    )
    parsed = parse_data(resource)
    assert not parsed.problems, parsed.problems
    return parsed.apps[0]


def test_a_stream_comes_after_its_history() -> None:
    assert not messages(history_app())


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        ("histry", "no operator reads a table"),
        ("orders", "is no table"),
        ("out", "no operator reads a table"),
    ],
)
def test_a_history_is_a_table_that_operators_read(after: str, reason: str) -> None:
    assert reason in messages(history_app(after=after))["spec.streams[1].after"][1]


def test_only_inputs_come_after_something() -> None:
    data = dict(as_data(history_app()))
    streams = [*data["spec"]["streams"][:2], {**data["spec"]["streams"][2], "after": "history"}]
    problems = messages(parse_data(data | {"spec": data["spec"] | {"streams": streams}}).apps[0])
    assert "goes with inputs" in problems["spec.streams[2].after"][1]


def test_an_app_in_stream_mode_reads_more_than_tables() -> None:
    data = dict(as_data(history_app()))
    data["spec"]["operators"] = [{"name": "send", "sendTo": {"from": "history", "stream": "out"}}]
    data["spec"]["streams"] = [data["spec"]["streams"][0], data["spec"]["streams"][2]]
    reason, message = messages(parse_data(data).apps[0])["spec.streams[0].system"]
    assert (reason, "say mode: batch" in message) == (Reason.INVALID_GRAPH, True)
