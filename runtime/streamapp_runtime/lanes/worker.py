"""The entry of a Python worker: finds the stage it has been serving, or becomes it."""

import gc
import pickle
from collections.abc import Callable, Iterator

import pyarrow as pa

from streamapp_runtime.lanes.setup import Setup
from streamapp_runtime.lanes.stage import Stage
from streamapp_runtime.program.program import Program

_serving: dict[tuple[str, int, int], Stage] = {}
"""At most one stage: a worker is of one role, and of one incarnation at a time."""


def entry(
    program: Program, number: int, setup: Setup, incarnation: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given for one layer."""
    key = (setup.run_id, incarnation, number)
    packed = pickle.dumps((program, number, setup))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stage(key, packed).run(batches)

    return run


def stage(key: tuple[str, int, int], packed: bytes) -> Stage:
    """The stage of this process; one of an earlier incarnation is let go."""
    found = _serving.get(key)
    if found is None:
        for former in _serving.values():
            former.close()
        _serving.clear()
        program, number, setup = pickle.loads(packed)  # noqa: S301 - the driver's own bytes
        found = _serving[key] = Stage(program, number, setup)
        gc.collect()
        gc.freeze()  # the daemon collects after each task: what is here now stays, and need not be looked at
    return found
