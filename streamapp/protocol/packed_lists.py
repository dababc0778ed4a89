"""Long lists of names as texts that fit a message: columns, compressed, sealed, in base64."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final

from streamapp.durable_forms import PACKED_LIST
from streamapp.jobmodel.packed_columns import MOST_VALUES, ColumnReader, ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.protocol.message_frame import MessageUnreadableError

_SEAL: Final = SealedFrame(mark=b"SAPA", form=PACKED_LIST, refusal=MessageUnreadableError)


def bytes_to_text(content: bytes) -> str:
    """Bytes as they stand in a message."""
    return b64encode(content).decode()


def text_to_bytes(text: str) -> bytes:
    """The bytes of such a text; a MessageUnreadableError where it is none."""
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise _SEAL.damaged(f"it is no base64: {error}") from None


def pack_rows(rows: Mapping[str, tuple[str | None, ...]], width: int) -> str:
    """Names with as many values each as `width` says; values are few and repeat themselves, or count up."""
    names = sorted(rows)
    columns = ColumnWriter()
    columns.names(names)
    for place in range(width):
        values = [rows[name][place] for name in names]
        columns.numbers([value is not None for value in values])
        columns.choices([value or "" for value in values])
    return bytes_to_text(_SEAL.close(columns.packed()))


def unpack_rows(text: str, width: int, most_rows: int = MOST_VALUES) -> dict[str, tuple[str | None, ...]]:
    """The packed rows; a MessageUnreadableError where the text is nothing like that."""
    body = _SEAL.open(text_to_bytes(text))
    try:
        columns = ColumnReader(body, most_rows)
        names = columns.names()
        value_columns = [
            [
                value if is_known else None
                for is_known, value in zip(columns.numbers(), columns.choices(), strict=True)
            ]
            for _ in range(width)
        ]
        columns.end()
        return {name: tuple(values) for name, *values in zip(names, *value_columns, strict=True)}
    except ValueError as error:
        raise _SEAL.damaged(str(error)) from error
