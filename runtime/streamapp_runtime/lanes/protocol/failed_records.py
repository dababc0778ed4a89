"""Records on which an expression failed, on their way to the driver."""

from typing import Final

from streamapp_runtime.lanes.protocol.sent_values import sent_list, sent_number, sent_text

MOST_FAILED_RECORDS: Final = 1_000
"""So many of a lane are told at once; where there are more, the search is made again without these."""

FailedRecord = tuple[str, int, int, str]
"""Stream, partition and offset of a record, and why an expression fails on it."""


def failed_records_of(values: object) -> tuple[FailedRecord, ...]:
    """Records as they were sent in JSON."""
    return tuple(
        (sent_text(stream), sent_number(partition), sent_number(offset), sent_text(reason))
        for stream, partition, offset, reason in sent_list(values)
    )
