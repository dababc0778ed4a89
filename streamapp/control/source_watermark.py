"""Watermarks where they begin: at the event times of a source partition."""

from streamapp.control.control_message import EARLIEST, NO_BOUND


def source_watermark(watermark: int | None, newest: int | None, delay: int) -> int | None:
    """A source partition's watermark after a batch whose newest event time is given.

    It stays `delay` behind the newest event and never goes back; a batch without event times leaves it.
    """
    if newest is None:
        return watermark
    # Events as far away as numbers go are still events: only an end of stream may end a stream.
    reached = min(max(newest - delay, EARLIEST), NO_BOUND)
    return reached if watermark is None else max(watermark, reached)


def is_late(event_time: int, watermark: int | None) -> bool:
    """True if an event is late: the watermark said that no such event follows. One at the watermark is not.

    The watermark is the one at the start of the batch: within a batch the order of records decides nothing.
    """
    return watermark is not None and event_time < watermark
