"""The order in which a person reads a stage: each stream it reads, and under it what its rows go through.

An operator of several inputs stands under the one that is printed last, when all of them have been.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamapp.graph.nodes import Graph
from streamapp.graph.stages import Stage
from streamapp.plan.render.diagram.node_keys import NodeKey, operator_key, output_key, stream_key

_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A stream or operator of a stage, the branches drawn before it and before what is said below it.

    `others` are the inputs under which it does not stand.
    """

    key: NodeKey
    branch: str
    below: str
    others: tuple[str, ...]


def stage_lines(graph: Graph, stage: Stage) -> list[TreeLine]:
    """The lines of a stage; operators that wait for each other, which is an error, come last."""
    given: dict[NodeKey, dict[NodeKey, None]] = {}
    for name in stage.operators:
        operator = graph.operators[name]
        key = operator_key(operator)
        if key.of == "operator":
            given[key] = dict.fromkeys(output_key(graph, source) for source in operator.inputs)
    readers: dict[NodeKey, list[NodeKey]] = {}
    for key, sources in given.items():
        for source in sources:
            readers.setdefault(source, []).append(key)
    streams = [stream_key(name) for name in stage.sources]
    elsewhere = sorted(readers.keys() - given.keys() - set(streams))
    found = list(_walk([*streams, *elsewhere, *_without(given), *given], given, readers))
    branches = _branches([depth for _, _, depth in found])
    return [
        TreeLine(key, branch, below, tuple(one.name for one in given.get(key, ()) if one != above))
        for (key, above, _), (branch, below) in zip(found, branches, strict=True)
    ]


def _without(given: Mapping[NodeKey, Mapping[NodeKey, None]]) -> list[NodeKey]:
    return [key for key, sources in given.items() if not sources]


def _walk(
    roots: Iterable[NodeKey],
    given: Mapping[NodeKey, Mapping[NodeKey, None]],
    readers: Mapping[NodeKey, Sequence[NodeKey]],
) -> Iterator[tuple[NodeKey, NodeKey | None, int]]:
    """Every key once, what it stands under, and how deep."""
    printed: set[NodeKey] = set()
    for root in roots:
        waiting: list[tuple[NodeKey, NodeKey | None, int]] = [(root, None, 0)]
        while waiting:
            key, above, depth = waiting.pop()
            if key in printed:
                continue
            printed.add(key)
            yield key, above, depth
            ready = (reader for reader in reversed(readers.get(key, ())) if given[reader].keys() <= printed)
            waiting.extend((reader, key, min(depth + 1, _DEEPEST)) for reader in ready)


def _branches(depths: Sequence[int]) -> list[tuple[str, str]]:
    """The branches of a tree that is given by the depth of each of its lines."""
    drawn: list[tuple[str, str]] = []
    going_on: set[int] = set()  # depths at which another line follows under the same one above
    following = 0
    for depth in reversed(depths):
        stems = "".join("│ " if level in going_on else "  " for level in range(1, depth))
        own = ("├ " if depth in going_on else "└ ") if depth else ""
        beside = ("│ " if depth in going_on else "  ") if depth else ""
        drawn.append((stems + own, stems + beside + ("│ " if following > depth else "  ")))
        going_on = {level for level in going_on if level < depth} | {depth}
        following = depth
    return drawn[::-1]
