"""A random graph, as a program and as a resource, is one app; and what is rendered reads back the same."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamapp.dsl import App, Flow, Tumbling, Window
from streamapp.spec.parser import parse
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_json, as_yaml

OUTPUT = 2
KINDS = (
    "filter", "map", "merge", "partitionBy", "broadcast", "join", "joinTable", "sendToTable", "aggregate",
    "sendTo",
)  # fmt: skip
names = st.one_of(
    st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.\-]{0,6}[A-Za-z0-9])?", fullmatch=True),
    st.sampled_from(["y", "n", "on", "1e3", "010", "0x1", "1_0", "null", "true", "12", "1.5", "Yes"]),
)
expressions = st.one_of(
    st.sampled_from(["x: y", "yes", "1", "a # b", "- a", "a\nAND b", "[1][0]", "{", "*", "a:  b", "1e5"]),
    st.text("abc '\n\t:#,é🚀\u2028\x85", min_size=1, max_size=30).map(lambda t: "a " + t.replace("'", "''")),
    st.text("ab", min_size=90, max_size=130),
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One operator of a graph: its name, its kind, the positions of what it reads, an expression."""

    name: str
    kind: str
    reads: tuple[int, int]
    expression: str


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[Step]]:
    """Names of two inputs and an output, and steps that read streams or earlier steps."""
    found = draw(st.lists(names, min_size=5, max_size=10, unique=True))
    streams, rest = found[:3], found[3:]
    open_, steps = [0, 1], [Step("fill-kept", "sendToTable", (0, 0), "")]
    for position, name in enumerate(rest, start=4):
        reads = draw(st.tuples(st.sampled_from(open_), st.sampled_from(open_)))
        steps.append(Step(name, draw(st.sampled_from(KINDS)), reads, draw(expressions)))
        if steps[-1].kind not in {"sendTo", "sendToTable"}:
            open_.append(position)
    return streams, steps


def _body(step: Step, named: list[str]) -> dict[str, Any]:
    first, second = (named[position] for position in step.reads)
    bodies: dict[str, dict[str, Any]] = {
        "filter": {"from": first, "where": step.expression},
        "map": {"from": first, "select": step.expression},
        "merge": {"from": [first, second]},
        "partitionBy": {"from": first, "key": step.expression, "partitions": 4},
        "broadcast": {"from": first},
        "join": {"from": [first, second], "within": "5m", "type": "inner", "where": step.expression},
        "joinTable": {"from": first, "table": "kept"},
        "sendToTable": {"from": first, "table": "kept"},
        "aggregate": {
            "from": first,
            "aggregates": step.expression,
            "window": {"tumbling": {"size": "1h"}},
            "allowedLateness": "0s",
        },
        "sendTo": {"from": first, "stream": named[OUTPUT]},
    }
    return bodies[step.kind]


def _resource(streams: list[str], steps: list[Step]) -> str:
    """The graph as JSON, with a default said here and there."""
    named = [*streams, *(step.name for step in steps)]
    spec = {
        "processors": 1,
        "systems": [{"name": "main", "embedded": {"path": "./data"}}],
        "streams": [{"name": name, "system": "main", "format": "json"} for name in streams],
        "tables": [{"name": "kept", "store": "rocksdb"}],
        "operators": [{"name": step.name, step.kind: _body(step, named)} for step in steps],
    }
    head = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "random"}}
    return json.dumps({**head, "spec": spec})


def _program(streams: list[str], steps: list[Step]) -> App:
    """The graph by calls."""
    app = App("random")
    main = app.embedded("main", path="./data")
    made = [main.stream(name) for name in streams]
    flows: list[Flow] = list(made)
    kept = app.table("kept")
    for step in steps:
        first, second = (flows[position] for position in step.reads)
        expression = step.expression
        window = Window(tumbling=Tumbling(size="1h"))
        calls: dict[str, Callable[..., Flow | None]] = {
            "filter": partial(first.filter, where=expression),
            "map": partial(first.map, select=expression),
            "merge": lambda name, first=first, second=second: first.merge(name, second),
            "partitionBy": partial(first.partition_by, key=expression, partitions=4),
            "broadcast": first.broadcast,
            "join": partial(first.join, other=second, within="5m", where=expression),
            "joinTable": partial(first.join_table, table=kept),
            "sendToTable": partial(first.send_to_table, table=kept),
            "aggregate": partial(first.aggregate, aggregates=expression, window=window),
            "sendTo": partial(first.send_to, stream=made[OUTPUT]),
        }
        flows.append(calls[step.kind](step.name) or first)  # nobody reads from a sink
    return app


@given(graphs())
def test_a_graph_as_a_program_and_as_a_resource_is_one_app(graph: tuple[list[str], list[Step]]) -> None:
    resource = parse(_resource(*graph))
    assert resource.problems == ()
    assert _program(*graph).parsed() == resource


@given(graphs())
def test_an_app_that_was_written_reads_back_and_is_written_the_same(
    graph: tuple[list[str], list[Step]],
) -> None:
    (app,) = parse(_resource(*graph)).apps
    assert _again(as_yaml(app)) == app
    assert _again(as_json(app)) == app
    assert as_yaml(_again(as_yaml(app))) == as_yaml(app)


def _again(text: str) -> StreamApp:
    (app,) = parse(text).apps
    return app
