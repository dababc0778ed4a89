"""A stage as a tree of lines: each stream that it reads, and below the stream the operators of its rows.

An operator with several inputs stands below the input that is printed last.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamapp.graph.nodes import Graph
from streamapp.graph.stages import Stage
from streamapp.plan.render.diagram.elements import NodeKey, operator_key, output_key, stream_key

_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A stream or operator of a stage, with the branches drawn before its line and before its notes.

    `others` are the inputs below which the operator does not stand.
    """

    key: NodeKey
    branch: str
    below: str
    others: tuple[str, ...]


def stage_lines(graph: Graph, stage: Stage) -> list[TreeLine]:
    """The lines of a stage; operators in a cycle, which is an error, come last."""
    sources_of: dict[NodeKey, dict[NodeKey, None]] = {}
    for name in stage.operators:
        operator = graph.operators[name]
        key = operator_key(operator)
        if key.of == "operator":
            sources_of[key] = dict.fromkeys(output_key(graph, source) for source in operator.inputs)
    readers: dict[NodeKey, list[NodeKey]] = {}
    for key, sources in sources_of.items():
        for source in sources:
            readers.setdefault(source, []).append(key)
    streams = [stream_key(name) for name in stage.sources]
    outside_sources = sorted(readers.keys() - sources_of.keys() - set(streams))
    tree_nodes = list(
        _walk([*streams, *outside_sources, *_without_sources(sources_of), *sources_of], sources_of, readers)
    )
    branches = _branches([depth for _, _, depth in tree_nodes])
    return [
        TreeLine(
            key, branch, below, tuple(source.name for source in sources_of.get(key, ()) if source != above)
        )
        for (key, above, _), (branch, below) in zip(tree_nodes, branches, strict=True)
    ]


def _without_sources(sources_of: Mapping[NodeKey, Mapping[NodeKey, None]]) -> list[NodeKey]:
    return [key for key, sources in sources_of.items() if not sources]


def _walk(
    roots: Iterable[NodeKey],
    sources_of: Mapping[NodeKey, Mapping[NodeKey, None]],
    readers: Mapping[NodeKey, Sequence[NodeKey]],
) -> Iterator[tuple[NodeKey, NodeKey | None, int]]:
    """Every key once, with its parent and depth."""
    printed: set[NodeKey] = set()
    for root in roots:
        waiting: list[tuple[NodeKey, NodeKey | None, int]] = [(root, None, 0)]
        while waiting:
            key, above, depth = waiting.pop()
            if key in printed:
                continue
            printed.add(key)
            yield key, above, depth
            ready = (
                reader for reader in reversed(readers.get(key, ())) if sources_of[reader].keys() <= printed
            )
            waiting.extend((reader, key, min(depth + 1, _DEEPEST)) for reader in ready)


def _branches(depths: Sequence[int]) -> list[tuple[str, str]]:
    """The branches of a tree that is given by the depth of each of its lines."""
    branches: list[tuple[str, str]] = []
    continuing: set[int] = set()  # depths at which another line with the same parent follows
    next_depth = 0
    for depth in reversed(depths):
        stems = "".join("│ " if level in continuing else "  " for level in range(1, depth))
        own_branch = ("├ " if depth in continuing else "└ ") if depth else ""
        stem_below = ("│ " if depth in continuing else "  ") if depth else ""
        branches.append((stems + own_branch, stems + stem_below + ("│ " if next_depth > depth else "  ")))
        continuing = {level for level in continuing if level < depth} | {depth}
        next_depth = depth
    return branches[::-1]
