"""The entry of a Python worker: finds the stage it has been serving, or becomes it."""

import gc
import pickle
from collections.abc import Callable, Iterator

import pyarrow as pa

from streamapp_runtime.lanes.layers.layer_worker import LayerWorker
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.program import Program

_serving: dict[tuple[str, int, int], LayerWorker] = {}
"""At most one stage: a worker is of one role, and of one incarnation at a time."""


def layer_entry(
    program: Program, number: int, setup: WorkerSetup, incarnation: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What `mapInArrow` is given for one layer."""
    key = (setup.run_id, incarnation, number)
    packed = pickle.dumps((program, number, setup))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return layer_worker(key, packed).run(batches)

    return run


def layer_worker(key: tuple[str, int, int], packed: bytes) -> LayerWorker:
    """The stage of this process; one of an earlier incarnation is let go."""
    worker = _serving.get(key)
    if worker is None:
        for former in _serving.values():
            former.close()
        _serving.clear()
        program, number, setup = pickle.loads(packed)  # noqa: S301 - the driver's own bytes
        worker = _serving[key] = LayerWorker(program, number, setup)
        gc.collect()
        gc.freeze()  # the daemon collects after each task: what is here now stays, and need not be looked at
    return worker
