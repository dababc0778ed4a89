"""Strongly connected parts of a directed graph, without recursion: a chain of any length has to plan."""

from collections.abc import Sequence


def strong_components(before: Sequence[Sequence[int]]) -> list[list[int]]:
    """Vertices that lie on cycles with each other, each part after all parts that come before it.

    `before[v]` are the vertices that lead to v. Tarjan's algorithm, with the list `path` for a call stack.
    """
    unseen = -1
    order = [unseen] * len(before)
    low = [0] * len(before)
    open_ = [False] * len(before)
    waiting: list[int] = []
    components: list[list[int]] = []
    visited_count = 0
    for root in range(len(before)):
        if order[root] != unseen:
            continue
        path = [(root, iter(before[root]))]
        order[root] = low[root] = visited_count
        visited_count += 1
        waiting.append(root)
        open_[root] = True
        while path:
            vertex, neighbours = path[-1]
            for next_ in neighbours:
                if order[next_] == unseen:
                    order[next_] = low[next_] = visited_count
                    visited_count += 1
                    waiting.append(next_)
                    open_[next_] = True
                    path.append((next_, iter(before[next_])))
                    break
                if open_[next_] and order[next_] < low[vertex]:
                    low[vertex] = order[next_]
            else:
                path.pop()
                if path and low[vertex] < low[path[-1][0]]:
                    low[path[-1][0]] = low[vertex]
                if low[vertex] == order[vertex]:
                    components.append(_close(vertex, waiting, open_))
    return components


def _close(root: int, waiting: list[int], open_: list[bool]) -> list[int]:
    part: list[int] = []
    while True:
        vertex = waiting.pop()
        open_[vertex] = False
        part.append(vertex)
        if vertex == root:
            return part
