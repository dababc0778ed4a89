"""Small random apps of a right structure: their counts agree or not."""

from dataclasses import replace

from hypothesis import strategies as st

from streamapp.graph.nodes import Graph, OperatorNode, TableNode
from streamapp.spec.resource.operator_kinds import OperatorKind
from tests.harness.graphs.graph_drawing import drawn

COUNTS = st.sampled_from([2, 3, 5])
_ONE_INPUT = [
    OperatorKind.MAP,
    OperatorKind.PARTITION_BY,
    OperatorKind.PARTITION_BY,
    OperatorKind.AGGREGATE,
    OperatorKind.SEND_TO,
]
_TWO_INPUTS = [OperatorKind.JOIN, OperatorKind.JOIN, OperatorKind.JOIN, OperatorKind.JOIN, OperatorKind.MERGE]
_ON_TABLES = [OperatorKind.JOIN_TABLE, OperatorKind.SEND_TO_TABLE, OperatorKind.PROCESS]


@st.composite
def apps(draw: st.DrawFn) -> Graph:
    """Operators read earlier ones, so that only tables make rings."""
    names = iter(draw(st.permutations([f"o{number}" for number in range(20)])))
    inputs = [
        OperatorNode(next(names), OperatorKind.INPUT, stream=f"s{number}")
        for number in range(draw(st.integers(1, 4)))
    ]
    tables = draw(st.lists(_table(), max_size=3, unique_by=lambda table: table.name))
    writable = [table.name for table in tables if not table.broadcast and not table.side_inputs]
    operators = list(inputs)
    for number in range(draw(st.integers(3, 12))):
        kinds = _ONE_INPUT + _TWO_INPUTS + (_ON_TABLES if tables else [])
        kind = draw(st.sampled_from(kinds))
        sources = [operator.name for operator in operators if operator.kind is not OperatorKind.SEND_TO]
        inputs_of = draw(st.lists(st.sampled_from(sources), min_size=2, max_size=2))
        operator = OperatorNode(next(names), kind, tuple(inputs_of if kind in _TWO_INPUTS else inputs_of[:1]))
        if kind is OperatorKind.PARTITION_BY:
            wanted = draw(st.one_of(st.none(), st.none(), COUNTS))
            # Two partitionBys may write one stream, but not ask for different counts of it.
            stream = f"p{number if wanted else draw(st.integers(20, 22))}"
            operator = replace(operator, stream=stream, partitions=wanted)
        elif kind is OperatorKind.SEND_TO:
            operator = replace(operator, stream="out")
        elif kind in _ON_TABLES:
            among = writable if kind is OperatorKind.SEND_TO_TABLE else [table.name for table in tables]
            if not among:
                continue
            operator = replace(operator, tables=(draw(st.sampled_from(among)),))
        operators.append(operator)
    streams = [f"s{number}" for number in range(4)] + ["side0", "side1", "out"]
    graph = drawn(*operators, counts={name: draw(COUNTS) for name in streams}, tables=tuple(tables))
    whole = draw(st.sampled_from([None, None, *graph.streams]))
    if whole is None:
        return graph
    broadcast = graph.streams | {whole: replace(graph.streams[whole], broadcast=True)}
    return replace(graph, streams=broadcast)


@st.composite
def _table(draw: st.DrawFn) -> TableNode:
    name = draw(st.sampled_from(["t0", "t1", "t2"]))
    kind = draw(st.sampled_from(["local", "local", "sides", "remote", "broadcast"]))
    sides = (
        draw(st.lists(st.sampled_from(["side0", "side1"]), min_size=1, unique=True))
        if kind == "sides"
        else []
    )
    return TableNode(name, kind == "remote", kind == "broadcast", tuple(sides))
