"""A whole store as one sequence of bytes, with a checksum."""

from collections.abc import Mapping

from streamapp.durable_forms import METADATA_FILE
from streamapp.jobmodel.packed_columns import ColumnReader, ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.jobmodel.unreadable_data import UnreadableError


class StoreUnreadableError(UnreadableError):
    """The file of a store could not be read. It is never taken for an empty one."""


class LocalityUnreadableError(UnreadableError):
    """A remembered locality could not be read. It may be dropped: locality only ever saves time."""


_SEAL = SealedFrame(mark=b"SAMD", form=METADATA_FILE, refusal=StoreUnreadableError)


def pack_entries(entries: Mapping[bytes, bytes]) -> bytes:
    """All entries, in the order of their keys."""
    keys = sorted(entries)
    columns = ColumnWriter()
    columns.raw(keys)
    columns.raw([entries[key] for key in keys])
    return _SEAL.close(columns.packed())


def unpack_entries(packed: bytes) -> dict[bytes, bytes]:
    """The entries, or a `StoreUnreadableError`."""
    body = _SEAL.open(packed)
    try:
        columns = ColumnReader(body)
        entries = dict(zip(columns.raw(), columns.raw(), strict=True))
        columns.end()
    except ValueError as error:
        raise _SEAL.damaged(str(error)) from error
    return entries
