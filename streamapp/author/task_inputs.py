"""The inputs of tasks: the streams divided among them, those that go to all; and whether tasks keep state."""

import re
from collections.abc import Iterator

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, Role
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.statefulness import StoreTraits, is_stateful
from streamapp.tasks.partition import Partition

_single = re.compile(r"^(.+)#([0-9]+)$")
_several = re.compile(r"^(.+)#\[([0-9]+)-([0-9]+)\]$")


def read_streams(graph: Graph, plan: Plan) -> tuple[str, ...]:
    """The streams whose partitions tasks own or share, by name.

    Streams that only fill broadcast tables are read by those tables' writers, not by tasks.
    """
    whole = {name for table in graph.tables.values() if table.broadcast for name in table.side_inputs}
    partly = {name for table in graph.tables.values() if not table.broadcast for name in table.side_inputs}
    only_broadcast = whole - partly
    return tuple(
        name
        for name, stream in sorted(plan.streams.items())
        if stream.role is not Role.OUTPUT and not (stream.role is Role.SIDE_INPUT and name in only_broadcast)
    )


def broadcast_inputs(app: StreamApp, plan: Plan) -> tuple[str | Partition, ...]:
    """The inputs of every task: streams made by broadcast operators, and `spec.broadcastInputs`."""
    broadcast_streams = [name for name, stream in plan.streams.items() if stream.broadcast]
    declared_inputs = [entry for text in app.spec.broadcast_inputs for entry in parse_broadcast_input(text)]
    return tuple(sorted({*broadcast_streams, *declared_inputs}, key=str))


def parse_broadcast_input(text: str) -> Iterator[str | Partition]:
    """`views`, `views#3` or `views#[0-7]`: a whole stream, one partition, several."""
    if match := _single.fullmatch(text):
        yield Partition(match[1], int(match[2]))
    elif match := _several.fullmatch(text):
        yield from (Partition(match[1], index) for index in range(int(match[2]), int(match[3]) + 1))
    else:
        yield text


def keeps_state(app: StreamApp, graph: Graph) -> bool:
    """True if keys are tied to tasks: by a local table, by totals, by a join, or by a class."""
    stores = [
        StoreTraits(
            persistent=table.store != "memory",
            changelog=table.changelog is not False or bool(table.side_inputs),
        )
        for table in app.spec.tables
        if not (table.remote or table.broadcast)
    ]
    operator_stores = [
        StoreTraits(True, True) for operator in graph.operators.values() if operator.traits.keeps_state
    ]
    return is_stateful([*stores, *operator_stores])
