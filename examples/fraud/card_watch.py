"""Cards that are tried with a small payment before a large one."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

SMALL = 100
LARGE = 50_000
WITHIN_MILLISECONDS = 60_000


class CardWatch:
    """Emits each large payment that comes within a minute of a small one, with nothing in between."""

    state_columns = pa.schema([("small_at", pa.int64())])

    def process(self, batch: pa.RecordBatch, state: Any, out: Any) -> None:
        """For each task that has rows: one look-up and one write serve all cards of the batch."""
        cards = pc.unique(batch["__key"])
        before = state.own.get(cards)["small_at"].to_pylist()
        small_at = dict(zip(cards.to_pylist(), before, strict=True))
        numbers, waits = [], []
        payments = (batch[name].to_pylist() for name in ("__key", "cents", "__time"))
        for number, (card, cents, time) in enumerate(zip(*payments, strict=True)):
            if cents is None:  # a tombstone
                continue
            tried_at = small_at[card]
            if cents >= LARGE and tried_at is not None and time - tried_at <= WITHIN_MILLISECONDS:
                numbers.append(number)
                waits.append(time - tried_at)
            small_at[card] = time if cents <= SMALL else None
        self._remember(small_at, state.own)
        rows = batch.take(pa.array(numbers, pa.int64()))
        alerts = {
            "card": rows["card"],
            "cents": rows["cents"],
            "milliseconds_after": pa.array(waits, pa.int64()),
            "__row": pa.array(numbers, pa.int64()),
        }
        out(pa.record_batch(alerts))

    def _remember(self, small_at: dict[bytes, int | None], own: Any) -> None:
        """A card has a row only while its last payment was small: state does not grow with the cards."""
        tried = {card: time for card, time in small_at.items() if time is not None}
        times = pa.array(list(tried.values()), pa.int64())
        own.put(pa.array(list(tried), pa.binary()), pa.record_batch({"small_at": times}))
        own.delete(pa.array([card for card in small_at if card not in tried], pa.binary()))
