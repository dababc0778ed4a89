"""The last bid of each bidder for each auction, by the time of the bids and not by their arrival."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

COLUMNS = ("auction", "bidder", "price", "channel", "url", "dateTime", "extra")


class LastBids:
    """Emits a bid unless a later one of its bidder and auction has come; of equal times the newest counts."""

    state_columns = pa.schema([("at", pa.int64())])

    def process(self, batch: pa.RecordBatch, state: Any, out: Any) -> None:
        """For each task that has rows."""
        batch = batch.append_column("__row", pa.array(np.arange(len(batch))))
        batch = batch.filter(pc.invert(batch["__tombstone"]))
        parts = (batch[name].cast(pa.string()) for name in ("auction", "bidder"))
        keys = pc.binary_join_element_wise(*parts, "/").cast(pa.binary())
        last = _last_rows(keys, batch["dateTime"].cast(pa.int64()).to_numpy())
        keys, batch = keys.take(last), batch.take(last)
        times = batch["dateTime"].cast(pa.int64())
        before = state.own.get(keys)["at"]
        is_newer = pc.fill_null(pc.greater_equal(times, before), True)
        keys, batch = keys.filter(is_newer), batch.filter(is_newer)
        state.own.put(keys, pa.record_batch({"at": times.filter(is_newer)}))
        out(batch.select([*COLUMNS, "__row"]))


def _last_rows(keys: pa.Array, times: np.ndarray) -> pa.Array:
    """The place of the latest row of each key; of equal times the last."""
    codes = keys.dictionary_encode().indices.to_numpy()
    order = np.lexsort((times, codes))  # it keeps the order of rows that are equal
    is_last = np.append(codes[order][1:] != codes[order][:-1], True)
    return pa.array(np.sort(order[is_last]))
