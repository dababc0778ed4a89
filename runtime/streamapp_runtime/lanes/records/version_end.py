"""The end of a version of a bounded data set: a record without a key, or an end of stream or import."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.control.control_message import EndOfStream, MessageKind
from streamapp.control.message_codec import decode_control_message
from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp_runtime.formats.message_envelope import open_envelopes
from streamapp_runtime.operators.stateless.stream_operations import Read

NULL_KEY, END_OF_STREAM, IMPORT = "nullKey", "endOfStream", "import"
IMPORT_ENDED, IMPORT_ABANDONED = b"\nended", b"\nabandoned"
"""The values of the records that end an import. No row that is imported begins with a line break."""


@dataclass(frozen=True, slots=True)
class VersionEnd:
    """The first end among some records: its place, where reading continues behind it, and who says it."""

    place: int
    position: int
    seal: EndOfVersion


def first_version_end(read: Read, records: pa.RecordBatch) -> VersionEnd | None:
    """The end of the version that these records are of; None where it continues."""
    if read.versions == NULL_KEY:
        places = np.flatnonzero(records.column("key").is_null())
        return _end(records, int(places[0]), EndOfVersion()) if len(places) else None
    if read.versions == IMPORT:
        places = np.flatnonzero(import_ends(records))
        if not len(places):
            return None
        place = int(places[0])
        is_abandoned = records.column("value")[place].as_py() == IMPORT_ABANDONED
        return _end(records, place, EndOfVersion(is_abandoned=is_abandoned))
    if read.versions == END_OF_STREAM:
        opened = open_envelopes(records.column("value"))
        for place in np.flatnonzero(opened.types == MessageKind.END_OF_STREAM).tolist():
            message = decode_control_message(MessageKind.END_OF_STREAM, opened.values[place].as_py())
            if isinstance(message, EndOfStream):
                speaker = message.speaker
                seal = (
                    EndOfVersion()
                    if speaker.task is None
                    else EndOfVersion(f"{speaker.run}/{speaker.model}/{speaker.task}", speaker.tasks)
                )
                return _end(records, place, seal)
    return None


def import_ends(records: pa.RecordBatch) -> pa.BooleanArray:
    """True for the records that end an import, and are no rows of its table."""
    return pc.is_in(records.column("value"), pa.array([IMPORT_ENDED, IMPORT_ABANDONED], pa.binary()))


def _end(records: pa.RecordBatch, place: int, seal: EndOfVersion) -> VersionEnd:
    return VersionEnd(place, records.column("offset")[place].as_py() + 1, seal)
