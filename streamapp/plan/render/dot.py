"""A plan in DOT, for Graphviz."""

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan
from streamapp.plan.render.diagram.diagram_builder import build_diagram
from streamapp.plan.render.diagram.elements import Edge, EdgeKind, ErrorRole, Node, Shape
from streamapp.plan.render.wording import legible, outcome_text

_NODE_STYLES = {
    Shape.STREAM: {"shape": "box", "style": "rounded,filled", "fillcolor": "#e1f0ff", "color": "#2f7fd6"},
    Shape.INTERMEDIATE: {
        "shape": "box",
        "style": "rounded,filled",
        "fillcolor": "#dcf5ee",
        "color": "#16866f",
    },
    Shape.OPERATOR: {"shape": "box", "style": "filled", "fillcolor": "#ffffff", "color": "#8b949e"},
    Shape.JOIN: {
        "shape": "box",
        "style": "filled",
        "fillcolor": "#f6f8fa",
        "color": "#424a53",
        "penwidth": "2",
    },
    Shape.TABLE: {"shape": "cylinder", "style": "filled", "fillcolor": "#f1e8fd", "color": "#8250df"},
    Shape.MISSING: {"shape": "box", "style": "dashed", "color": "#cf222e"},
}
_EDGE_STYLES: dict[EdgeKind, dict[str, str]] = {
    EdgeKind.ROWS: {},
    EdgeKind.TABLE: {"style": "dotted", "color": "#8250df"},
    EdgeKind.SIDE: {"style": "dashed", "color": "#2f7fd6"},
}
_ERROR_STYLES = {
    ErrorRole.NONE: {},
    ErrorRole.INVOLVED: {"color": "#cf222e"},
    ErrorRole.FAILING: {"color": "#cf222e", "fillcolor": "#ffebe9", "penwidth": "3"},
}


def render(name: str, graph: Graph, plan: Plan) -> str:
    """The graph from left to right, with counts on nodes and edges, and what fails in red."""
    diagram = build_diagram(graph, plan)
    title = f"{legible(name)}: {outcome_text(plan)}"
    lines = [
        f"digraph {quoted(legible(name))} {{",
        f"  graph [label={quoted(title)}, labelloc=t, rankdir=LR, fontname=Helvetica];",
        "  node [fontname=Helvetica, fontsize=11];",
        '  edge [fontname=Helvetica, fontsize=10, color="#8b949e"];',
        *(f"  n{number} [{_node(node)}];" for number, node in enumerate(diagram.nodes)),
        *(f"  n{edge.source} -> n{edge.target} [{_edge(edge)}];" for edge in diagram.edges),
        "}",
    ]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A text as a DOT string: backslashes, which start escapes in labels, and quotes are escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _node(node: Node) -> str:
    mark = "✗ " if node.error_role is ErrorRole.FAILING else ""
    badge = f"  [{node.badge}]" if node.badge else ""
    # DOT's own line break stands outside the quoting of the texts.
    label = f"{quoted(f'{mark}{node.kind}')[:-1]}\\n{quoted(f'{node.name}{badge}')[1:]}"
    return _attribute_list(
        {**_NODE_STYLES[node.shape], **_ERROR_STYLES[node.error_role], "tooltip": node.description}, label
    )


def _edge(edge: Edge) -> str:
    failing_style = {"color": "#cf222e", "fontcolor": "#cf222e", "penwidth": "2.4"} if edge.failing else {}
    return _attribute_list({**_EDGE_STYLES[edge.kind], **failing_style}, quoted(edge.label))


def _attribute_list(attributes: dict[str, str], label: str) -> str:
    return ", ".join([f"label={label}", *(f"{name}={quoted(value)}" for name, value in attributes.items())])
