"""Graphs of any kind, most of them wrong: names of any letters, dangling, in rings, used twice."""

from hypothesis import strategies as st

from streamapp.graph.nodes import Graph, OperatorNode, StreamNode, TableNode
from streamapp.spec.resource.operator_kinds import OperatorKind

NASTY = [
    "a",
    "b",
    "c",
    "</script><script>alert(1)</script>",
    'x"y',
    "\\n",
    "\x1b[31m",
    "名前" * 20,
    "&amp;",
    "",
]
NAMES = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))


@st.composite
def wild_graphs(draw: st.DrawFn) -> Graph:
    pool = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    name = st.sampled_from(pool)
    some = st.lists(name, max_size=3).map(tuple)
    operators = {
        key: OperatorNode(
            key,
            draw(st.sampled_from(OperatorKind)),
            draw(some),
            draw(st.none() | name),
            draw(st.lists(name, max_size=2).map(tuple)),
            draw(st.none() | st.integers(-1, 300)),
        )
        for key in draw(st.lists(name, max_size=8, unique=True))
    }
    streams = {
        key: StreamNode(key, draw(NAMES), draw(st.none() | st.integers(0, 5000)), draw(st.booleans()))
        for key in draw(st.lists(name, max_size=6, unique=True))
    }
    tables = {
        key: TableNode(key, draw(st.booleans()), draw(st.booleans()), draw(some))
        for key in draw(st.lists(name, max_size=3, unique=True))
    }
    return Graph(operators, streams, tables)
