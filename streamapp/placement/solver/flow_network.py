"""Finds the flow that gains the most through a small network."""

from collections import deque


class FlowNetwork:
    """Arcs with a capacity and a gain per unit; at the start no cycle of arcs may have a gain.

    A flow has the greatest gain if and only if, in the residual network, neither a path from source to sink
    nor a cycle has a gain. Filling only paths of greatest gain creates no gaining cycle, so the flow is
    complete when no path has a gain.
    """

    def __init__(self, nodes: int) -> None:
        self._leaving_arcs: list[list[int]] = [[] for _ in range(nodes)]
        # An arc a and its reverse arc, number a ^ 1, stand side by side.
        self._end: list[int] = []
        self._capacity: list[int] = []
        self._gain: list[int] = []

    def add(self, start: int, end: int, capacity: int, gain: int = 0) -> int:
        """Add an arc and return its number, which `flow` takes."""
        number = len(self._end)
        self._leaving_arcs[start].append(number)
        self._leaving_arcs[end].append(number + 1)
        self._end += (end, start)
        self._capacity += (capacity, 0)
        self._gain += (gain, -gain)
        return number

    def flow(self, arc: int) -> int:
        """The flow through an arc."""
        return self._capacity[arc ^ 1]

    def fill(self, source: int, sink: int) -> None:
        """Fill the network until no path from source to sink has a gain."""
        while (best_gain := self._best_gains(source)).get(sink, 0) > 0:
            self._fill_best(source, sink, best_gain)

    def _best_gains(self, source: int) -> dict[int, int]:
        """The greatest gain of a path to each node that can be reached, by Bellman and Ford's rounds."""
        best_gain = {source: 0}
        queue, queued = deque([source]), {source}
        while queue:
            node = queue.popleft()
            queued.discard(node)
            gain = best_gain[node]
            for arc in self._leaving_arcs[node]:
                end = self._end[arc]
                if self._capacity[arc] and (end not in best_gain or gain + self._gain[arc] > best_gain[end]):
                    best_gain[end] = gain + self._gain[arc]
                    if end not in queued:
                        queued.add(end)
                        queue.append(end)
        return best_gain

    def _fill_best(self, source: int, sink: int, best_gain: dict[int, int]) -> None:
        """Fill paths of greatest gain; an arc that led to no sink is left to the next round."""
        next_arc_index = [0] * len(self._leaving_arcs)
        path: list[int] = []
        visited = {source}
        node = source
        while True:
            arc = self._next_arc(node, next_arc_index, visited, best_gain)
            if arc is not None:
                path.append(arc)
                node = self._end[arc]
                visited.add(node)
            elif path:
                visited.discard(node)
                node = self._end[path.pop() ^ 1]
                next_arc_index[node] += 1
            else:
                return
            if node == sink:
                self._send(path)
                path, visited, node = [], {source}, source

    def _next_arc(
        self, node: int, next_arc_index: list[int], visited: set[int], best_gain: dict[int, int]
    ) -> int | None:
        leaving_arcs = self._leaving_arcs[node]
        while next_arc_index[node] < len(leaving_arcs):
            arc = leaving_arcs[next_arc_index[node]]
            end = self._end[arc]
            if (
                self._capacity[arc]
                and end not in visited
                and best_gain[end] == best_gain[node] + self._gain[arc]
            ):
                return arc
            next_arc_index[node] += 1
        return None

    def _send(self, path: list[int]) -> None:
        amount = min(self._capacity[arc] for arc in path)
        for arc in path:
            self._capacity[arc] -= amount
            self._capacity[arc ^ 1] += amount
