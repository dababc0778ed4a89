"""The same answers in the slowest way: everything from the whole history, each time anew."""

from collections.abc import Sequence

from streamapp.control.control_message import Control


def partition_watermark(history: Sequence[Control]) -> int | None:
    """The highest that the newest model's tasks had reached together after any part of the history."""
    found = [_together(history[:length]) for length in range(len(history) + 1)]
    return max((watermark for watermark in found if watermark is not None), default=None)


def stream_watermark(histories: Sequence[Sequence[Control]]) -> int | None:
    found = [partition_watermark(history) for history in histories]
    return None if None in found or not found else min(one for one in found if one is not None)


def _together(history: Sequence[Control]) -> int | None:
    if not history:
        return None
    newest = max(message.speaker.model for message in history)
    words = [message for message in history if message.speaker.model == newest]
    tasks = {message.speaker.task for message in words}
    if len(tasks) < words[-1].speaker.tasks:
        return None
    return min(max(word.reached for word in words if word.speaker.task == task) for task in tasks)
