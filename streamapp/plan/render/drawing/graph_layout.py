"""Where the nodes of a drawing go: columns from left to right, rows within them, free ways for long edges.

fast-sugiyama does the work. It ends the process on a ring and may, rarely, put two nodes in one place, so
rings are opened before and places pushed apart after. Rows are as high as a node and the gap below it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from fast_sugiyama import from_edges

NODE_APART = 1.0
WAY_APART = 0.6  # an edge passing a node
WAYS_APART = 0.3  # two edges passing each other
_UNIT = 100

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class GridPosition:
    """A column, and how far down in it."""

    column: int
    row: float


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The places of all nodes, and for each edge those it passes from left to right, its ends among them.

    An edge that closes a ring runs from right to left: its first place is its target's.
    """

    nodes: tuple[GridPosition, ...]
    ways: dict[Edge, tuple[GridPosition, ...]]


def lay_out(count: int, edges: Iterable[Edge]) -> GraphLayout:
    """Place nodes 0 to `count` - 1; parts that no edge connects stand one below the other."""
    wanted = [edge for edge in dict.fromkeys(edges) if edge[0] != edge[1]]
    position = _order(count, wanted)
    forward = {edge: edge if position[edge[0]] < position[edge[1]] else edge[::-1] for edge in wanted}
    places: dict[int, GridPosition] = {}
    ways: dict[Edge, tuple[GridPosition, ...]] = {}
    below = 0.0
    for nodes, within in _parts(count, list(dict.fromkeys(forward.values()))):
        part, found = _place(nodes, within, below)
        places.update(part)
        ways.update(found)
        below = NODE_APART + max(place.row for way in ((*part.values(),), *found.values()) for place in way)
    return GraphLayout(
        tuple(places[node] for node in range(count)), {edge: ways[forward[edge]] for edge in wanted}
    )


def _parts(count: int, edges: Sequence[Edge]) -> Iterator[tuple[list[int], list[Edge]]]:
    """Nodes that edges connect, and those edges; in the order of their first nodes."""
    part_of = list(range(count))

    def part(node: int) -> int:
        while part_of[node] != node:
            part_of[node] = part_of[part_of[node]]
            node = part_of[node]
        return node

    for source, target in edges:
        low, high = sorted((part(source), part(target)))
        part_of[high] = low
    parts: dict[int, tuple[list[int], list[Edge]]] = {}
    for node in range(count):
        parts.setdefault(part(node), ([], []))[0].append(node)
    for edge in edges:
        parts[part(edge[0])][1].append(edge)
    yield from parts.values()


def _place(
    nodes: Sequence[int], edges: Sequence[Edge], below: float
) -> tuple[dict[int, GridPosition], dict[Edge, tuple[GridPosition, ...]]]:
    """The places of one part's nodes and what its edges pass."""
    if not edges:
        return {nodes[0]: GridPosition(0, below)}, {}
    # What edges pass is numbered after the nodes, and only within one part whose numbers have no gaps.
    number_of = {node: number for number, node in enumerate(nodes)}
    numbered = [(number_of[source], number_of[target]) for source, target in edges]
    ((found, _, _, cut),) = from_edges(numbered, vertex_spacing=_UNIT, dummy_vertices=True)
    positions = [(int(number), float(across), float(height)) for number, (across, height) in found]
    steps = [(int(source), int(target)) for source, target in cut or ()]
    places = _apart(positions, len(nodes), below)
    ways = {
        (nodes[way[0]], nodes[way[-1]]): tuple(places[number] for number in way)
        for way in _ways(steps, len(nodes))
    }
    return {node: places[number] for number, node in enumerate(nodes)}, ways


def _order(count: int, edges: Sequence[Edge]) -> list[int]:
    """An order in which every edge leads on, but for those that close rings."""
    after: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in edges:
        after[source].append(target)
        missing[target] += 1
    ready = [node for node in range(count) if not missing[node]]
    heapify(ready)
    # Where only rings are left, go on from a node that is reached already.
    stuck = [(1, node) for node in range(count)]
    position = [-1] * count
    for step in range(count):
        while ready and position[ready[0]] >= 0:
            heappop(ready)
        while not ready and position[stuck[0][1]] >= 0:
            heappop(stuck)
        node = heappop(ready) if ready else heappop(stuck)[1]
        position[node] = step
        for target in after[node]:
            missing[target] -= 1
            if position[target] < 0:
                heappush(stuck, (0, target))
                if not missing[target]:
                    heappush(ready, target)
    return position


def _apart(
    positions: Sequence[tuple[int, float, float]], nodes: int, below: float
) -> dict[int, GridPosition]:
    """The library's places turned to run from left to right, none nearer to another than it may be."""
    top = max(height for _, _, height in positions)
    columns: dict[int, list[tuple[float, int]]] = {}
    for number, across, height in positions:
        columns.setdefault(round((top - height) / _UNIT), []).append((across / _UNIT, number))
    first = min(across for column in columns.values() for across, _ in column)
    places: dict[int, GridPosition] = {}
    for column, members in columns.items():
        lowest = -NODE_APART
        previous = -1
        for across, number in sorted(members):
            least = below if previous < 0 else lowest + _least(previous < nodes, number < nodes)
            lowest = max(round(across - first + below, 3), round(least, 3))
            places[number] = GridPosition(column, lowest)
            previous = number
    return places


def _least(node: bool, other: bool) -> float:
    if node and other:
        return NODE_APART
    return WAY_APART if node or other else WAYS_APART


def _ways(steps: Sequence[Edge], nodes: int) -> list[list[int]]:
    """The steps that the library cut edges into, joined again."""
    onward = {source: target for source, target in steps if source >= nodes}
    ways = []
    for source, target in steps:
        if source < nodes:
            way = [source, target]
            while way[-1] >= nodes:
                way.append(onward[way[-1]])
            ways.append(way)
    return ways
