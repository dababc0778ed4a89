"""On which executor a lane finds itself: seen from Python, where Spark does not tell."""

import os
import socket
from collections.abc import Iterator
from hashlib import blake2b

import pyarrow as pa

IDENTITY_SCHEMA = "lane INT, executor_id STRING"
_TELLING = ("SPARK_EXECUTOR_DIRS", "SPARK_EXECUTOR_ID", "SPARK_APPLICATION_ID", "SPARK_EXECUTOR_POD_IP")
"""What differs between executors: the first on one machine, the next in pods.

A pod of a StatefulSet that comes again differs from the last one by its address alone.
"""


def executor_identity() -> str:
    """The same for all workers of an executor, and for no other executor nor for the one that replaces it."""
    identity_parts = [socket.gethostname(), *(os.environ.get(name, "") for name in _TELLING)]
    return blake2b("\n".join(identity_parts).encode(), digest_size=8).hexdigest()


def report_identities(lanes: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Say of each lane where it is, in rows of SCHEMA."""
    for lane in lanes:
        ids = pa.array([executor_identity()] * lane.num_rows, pa.string())
        yield pa.record_batch({"lane": lane.column("lane"), "executor_id": ids})
