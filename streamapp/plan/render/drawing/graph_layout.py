"""The layout of a drawing: columns from left to right, rows within columns, free ways for long edges.

The library fast-sugiyama computes the layout. The library ends the process on a cycle and may, rarely, put
two nodes in one place. So cycles are opened before the call, and places are separated after the call. A row
is as high as a node and the gap below the node.
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
    """A column, and a row within the column."""

    column: int
    row: float


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """The places of all nodes, and the places on each edge's way from left to right, both ends included.

    An edge that closes a cycle runs from right to left: its first place is its target's.
    """

    nodes: tuple[GridPosition, ...]
    ways: dict[Edge, tuple[GridPosition, ...]]


def lay_out(count: int, edges: Iterable[Edge]) -> GraphLayout:
    """Place nodes 0 to `count` - 1; unconnected parts stand one below the other."""
    drawn_edges = [edge for edge in dict.fromkeys(edges) if edge[0] != edge[1]]
    position = _node_order(count, drawn_edges)
    forward = {edge: edge if position[edge[0]] < position[edge[1]] else edge[::-1] for edge in drawn_edges}
    places: dict[int, GridPosition] = {}
    ways: dict[Edge, tuple[GridPosition, ...]] = {}
    below = 0.0
    for nodes, part_edges in _parts(count, list(dict.fromkeys(forward.values()))):
        part_places, part_ways = _place(nodes, part_edges, below)
        places.update(part_places)
        ways.update(part_ways)
        below = NODE_APART + max(
            place.row for way in ((*part_places.values(),), *part_ways.values()) for place in way
        )
    return GraphLayout(
        tuple(places[node] for node in range(count)), {edge: ways[forward[edge]] for edge in drawn_edges}
    )


def _parts(count: int, edges: Sequence[Edge]) -> Iterator[tuple[list[int], list[Edge]]]:
    """The connected parts, each with its nodes and edges, in order of their first nodes."""
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
    """The places of one part's nodes, and the ways of its edges."""
    if not edges:
        return {nodes[0]: GridPosition(0, below)}, {}
    # The library numbers an edge's places after the nodes, and only for a part whose numbers have no gaps.
    number_of = {node: number for number, node in enumerate(nodes)}
    numbered = [(number_of[source], number_of[target]) for source, target in edges]
    ((library_positions, _, _, cut_edges),) = from_edges(numbered, vertex_spacing=_UNIT, dummy_vertices=True)
    positions = [
        (int(number), float(offset), float(height)) for number, (offset, height) in library_positions
    ]
    steps = [(int(source), int(target)) for source, target in cut_edges or ()]
    places = _separated(positions, len(nodes), below)
    ways = {
        (nodes[way[0]], nodes[way[-1]]): tuple(places[number] for number in way)
        for way in _ways(steps, len(nodes))
    }
    return {node: places[number] for number, node in enumerate(nodes)}, ways


def _node_order(count: int, edges: Sequence[Edge]) -> list[int]:
    """An order of the nodes in which every edge leads forward, except edges that close a cycle."""
    targets_of: list[list[int]] = [[] for _ in range(count)]
    open_inputs = [0] * count
    for source, target in edges:
        targets_of[source].append(target)
        open_inputs[target] += 1
    ready = [node for node in range(count) if not open_inputs[node]]
    heapify(ready)
    # Where only cycles are left, continue with a node that has been reached.
    ring_candidates = [(1, node) for node in range(count)]
    position = [-1] * count
    for step in range(count):
        while ready and position[ready[0]] >= 0:
            heappop(ready)
        while not ready and position[ring_candidates[0][1]] >= 0:
            heappop(ring_candidates)
        node = heappop(ready) if ready else heappop(ring_candidates)[1]
        position[node] = step
        for target in targets_of[node]:
            open_inputs[target] -= 1
            if position[target] < 0:
                heappush(ring_candidates, (0, target))
                if not open_inputs[target]:
                    heappush(ready, target)
    return position


def _separated(
    positions: Sequence[tuple[int, float, float]], nodes: int, below: float
) -> dict[int, GridPosition]:
    """The library's places turned to run from left to right, with the least distance between any two."""
    top = max(height for _, _, height in positions)
    columns: dict[int, list[tuple[float, int]]] = {}
    for number, across, height in positions:
        columns.setdefault(round((top - height) / _UNIT), []).append((across / _UNIT, number))
    first = min(across for column in columns.values() for across, _ in column)
    places: dict[int, GridPosition] = {}
    for column, members in columns.items():
        row = -NODE_APART
        previous = -1
        for across, number in sorted(members):
            least_row = below if previous < 0 else row + _least_distance(previous < nodes, number < nodes)
            row = max(round(across - first + below, 3), round(least_row, 3))
            places[number] = GridPosition(column, row)
            previous = number
    return places


def _least_distance(node: bool, other: bool) -> float:
    if node and other:
        return NODE_APART
    return WAY_APART if node or other else WAYS_APART


def _ways(steps: Sequence[Edge], nodes: int) -> list[list[int]]:
    """The ways of edges, joined from the library's steps."""
    onward = {source: target for source, target in steps if source >= nodes}
    ways = []
    for source, target in steps:
        if source < nodes:
            way = [source, target]
            while way[-1] >= nodes:
                way.append(onward[way[-1]])
            ways.append(way)
    return ways
