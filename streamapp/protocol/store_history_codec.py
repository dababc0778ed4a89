"""The places of tasks' stores, in few bytes: a row for each place, those of a task one after the other."""

from typing import Final

from streamapp.durable_forms import STORE_HISTORY
from streamapp.jobmodel.packed_columns import ColumnReader, ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.placement.locations.store_history import MOST_FORMER_PLACES, StoreHistory, StorePlace
from streamapp.protocol.message_frame import MessageUnreadableError

_SEAL: Final = SealedFrame(mark=b"SASH", form=STORE_HISTORY, refusal=MessageUnreadableError)


def pack_store_history(history: StoreHistory) -> bytes:
    """The history as far as it is written."""
    places_of = history.bounded().places
    tasks = sorted(places_of)
    rows = [place for task in tasks for place in places_of[task]]
    columns = ColumnWriter()
    columns.names(tasks)
    columns.numbers([len(places_of[task]) for task in tasks])
    columns.choices([place.location for place in rows])
    columns.numbers([place.position for place in rows])
    columns.numbers([place.at for place in rows])
    return _SEAL.close(columns.packed())


def unpack_store_history(packed: bytes) -> StoreHistory:
    """The packed history; a MessageUnreadableError where the bytes are nothing like that."""
    body = _SEAL.open(packed)
    try:
        columns = ColumnReader(body)
        tasks, counts = columns.names(), columns.numbers()
        rows = zip(columns.choices(), columns.numbers(), columns.numbers(), strict=True)
        columns.end()
        if counts and not 1 <= min(counts) <= max(counts) <= 1 + MOST_FORMER_PLACES:
            raise _SEAL.damaged(f"a task with {min(counts)} to {max(counts)} places")
        places = {
            task: tuple(StorePlace(*next(rows)) for _ in range(count))
            for task, count in zip(tasks, counts, strict=True)
        }
        if next(rows, None) is not None:
            raise _SEAL.damaged("places of no task")
    except (ValueError, RuntimeError) as error:
        raise _SEAL.damaged(str(error)) from error
    return StoreHistory(places)
