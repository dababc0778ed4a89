"""Who was last seen where, in few bytes: a column of names, the different locations, and which is whose."""

from collections.abc import Mapping

from streamapp.durable_forms import LOCALITY
from streamapp.jobmodel.packed_columns import ColumnReader, ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.metadata.unreadable_metadata import LocalityUnreadableError

_SEAL = SealedFrame(mark=b"SALO", form=LOCALITY, refusal=LocalityUnreadableError)


def pack_locality(locality: Mapping[str, str | None]) -> bytes:
    """Name -> location, where None is a location that nobody knows."""
    names = sorted(locality)
    locations = [locality[name] for name in names]
    columns = ColumnWriter()
    columns.names(names)
    columns.numbers([location is not None for location in locations])
    columns.choices([location or "" for location in locations])
    return _SEAL.close(columns.packed())


def unpack_locality(packed: bytes) -> dict[str, str | None]:
    """What `pack` was given, or a `LocalityUnreadableError`."""
    body = _SEAL.open(packed)
    try:
        columns = ColumnReader(body)
        rows = zip(columns.names(), columns.numbers(), columns.choices(), strict=True)
        locality = {name: location if is_known else None for name, is_known, location in rows}
        columns.end()
    except ValueError as error:
        raise _SEAL.damaged(str(error)) from error
    return locality
