"""Finds the flow that gains the most through a small network."""

from collections import deque


class FlowNetwork:
    """Arcs with a room and a gain for each unit; at the start no circle of them may gain.

    A flow gains the most if and only if, over what is left of the arcs, neither a path from source to sink
    nor a circle gains. Filling only paths of greatest gain makes no gaining circle, so it is enough to go on
    until no path gains.
    """

    def __init__(self, nodes: int) -> None:
        self._leaving: list[list[int]] = [[] for _ in range(nodes)]
        # An arc and its way back, which has the number a ^ 1, stand side by side.
        self._to: list[int] = []
        self._room: list[int] = []
        self._gain: list[int] = []

    def add(self, start: int, end: int, room: int, gain: int = 0) -> int:
        """An arc; its number is what `flow` takes."""
        number = len(self._to)
        self._leaving[start].append(number)
        self._leaving[end].append(number + 1)
        self._to += (end, start)
        self._room += (room, 0)
        self._gain += (gain, -gain)
        return number

    def flow(self, arc: int) -> int:
        """How much goes through an arc."""
        return self._room[arc ^ 1]

    def fill(self, source: int, sink: int) -> None:
        """Send whatever gains."""
        while (best := self._best_gains(source)).get(sink, 0) > 0:
            self._fill_best(source, sink, best)

    def _best_gains(self, source: int) -> dict[int, int]:
        """The greatest gain of a path to each node that can be reached, by Bellman and Ford's rounds."""
        best = {source: 0}
        queue, queued = deque([source]), {source}
        while queue:
            node = queue.popleft()
            queued.discard(node)
            here = best[node]
            for arc in self._leaving[node]:
                end = self._to[arc]
                if self._room[arc] and (end not in best or here + self._gain[arc] > best[end]):
                    best[end] = here + self._gain[arc]
                    if end not in queued:
                        queued.add(end)
                        queue.append(end)
        return best

    def _fill_best(self, source: int, sink: int, best: dict[int, int]) -> None:
        """Fill paths of greatest gain; an arc that once led nowhere is left to the next round."""
        tried = [0] * len(self._leaving)
        path: list[int] = []
        passed = {source}
        node = source
        while True:
            arc = self._next_arc(node, tried, passed, best)
            if arc is not None:
                path.append(arc)
                node = self._to[arc]
                passed.add(node)
            elif path:
                passed.discard(node)
                node = self._to[path.pop() ^ 1]
                tried[node] += 1
            else:
                return
            if node == sink:
                self._send(path)
                path, passed, node = [], {source}, source

    def _next_arc(self, node: int, tried: list[int], passed: set[int], best: dict[int, int]) -> int | None:
        leaving = self._leaving[node]
        while tried[node] < len(leaving):
            arc = leaving[tried[node]]
            end = self._to[arc]
            if self._room[arc] and end not in passed and best[end] == best[node] + self._gain[arc]:
                return arc
            tried[node] += 1
        return None

    def _send(self, path: list[int]) -> None:
        amount = min(self._room[arc] for arc in path)
        for arc in path:
            self._room[arc] -= amount
            self._room[arc ^ 1] += amount
