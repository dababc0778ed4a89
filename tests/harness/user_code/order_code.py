"""An operator that depends on order: with each record it tells the one of its key that came before."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa


class Chained:
    """Puts out `n` and `before`, the `n` of the same key that was seen last; -1 for the first."""

    state_columns = pa.schema([("last", pa.int64())])

    def process(self, batch: pa.RecordBatch, state: Any, out: Callable[[pa.RecordBatch], None]) -> None:
        keys, numbers = batch["__key"].to_pylist(), batch["n"].to_pylist()
        names = pa.array(sorted(set(keys)), pa.binary())
        known = state.own.get(names)["last"].to_pylist()
        last = {key: -1 if n is None else n for key, n in zip(names.to_pylist(), known, strict=True)}
        before = []
        for key, number in zip(keys, numbers, strict=True):
            before.append(last[key])
            last[key] = number
        state.own.put(names, pa.record_batch({"last": pa.array([last[k] for k in names.to_pylist()])}))
        rows = {"user": batch["user"], "n": batch["n"], "before": pa.array(before, pa.int64())}
        out(pa.record_batch(rows | {"__key": batch["__key"]}))
