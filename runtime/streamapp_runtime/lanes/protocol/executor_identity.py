"""On which executor a lane finds itself: seen from Python, where Spark does not tell."""

import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b

_TELLING = ("SPARK_EXECUTOR_DIRS", "SPARK_EXECUTOR_ID", "SPARK_APPLICATION_ID", "SPARK_EXECUTOR_POD_IP")
"""What differs between executors: the first on one machine, the next in pods.

A pod of a StatefulSet that comes again differs from the last one by its address alone.
"""


def executor_identity() -> str:
    """The same for all workers of an executor, and for no other executor nor for the one that replaces it."""
    identity_parts = [socket.gethostname(), *(os.environ.get(name, "") for name in _TELLING)]
    return blake2b("\n".join(identity_parts).encode(), digest_size=8).hexdigest()


def report_identity(lane: int, elements: Iterable[object]) -> Iterator[tuple[int, str]]:
    """Say of a lane where it is; Spark keeps a worker that has read all of its elements, and ends others."""
    deque(elements, maxlen=0)
    yield lane, executor_identity()
