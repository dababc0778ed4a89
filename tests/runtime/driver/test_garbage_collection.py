"""A driver's process looks seldom for unreachable objects, and frees them all the same."""

import subprocess
import sys

import pytest

_PROGRAM = """
import gc, weakref
from streamapp_runtime.driver.garbage_collection import collect_seldom

class Node:
    pass

def cycle():
    node = Node()
    node.itself = node
    return weakref.ref(node)

kept = [Node() for _ in range(100_000)]
collect_seldom()
collections = []
gc.callbacks.append(lambda phase, facts: collections.append(facts["generation"]))
new = [[] for _ in range(5_000)]
print(len(collections), len(gc.get_objects()) < len(kept))
nodes = [cycle() for _ in range(30_000)]
print(len(collections) > 0, sum(node() is not None for node in nodes) < 15_000)
"""


@pytest.mark.usefixtures("process")
def test_what_is_there_is_left_out_and_cycles_are_freed() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0 True", "True True"]
