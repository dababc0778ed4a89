"""Writes a layout as text to lie beside the state, and reads it back or says why it cannot be trusted."""

import hashlib
import json
from typing import Any

from pydantic import ValidationError

from streamapp.durable_forms import LAYOUT, VersionRefusal
from streamapp.spec.reasons import Reason
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_form import WrittenLayout, layout_of, written_layout
from streamapp.tasks.refusal import Refusal

_RESTORE = "restore it from its copy; only raise resetNonce if the state may be given up"


def encode_layout(layout: Layout) -> str:
    """The layout as JSON, with a format version and a checksum over all of it."""
    body = written_layout(layout).model_dump(mode="json")
    return _canonical({"format": LAYOUT.version, "checksum": _checksum(LAYOUT.version, body), "layout": body})


def decode_layout(text: str) -> Layout | Refusal:
    """The layout in a text that `encode` wrote, or a refusal: a layout is never guessed."""
    body = _unsealed(text)
    if isinstance(body, Refusal):
        return body
    try:
        return layout_of(WrittenLayout.model_validate(body))
    except ValidationError as error:
        first = error.errors()[0]
        return _damaged(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except ValueError as error:
        return _damaged(str(error))


def _unsealed(text: str) -> dict[str, Any] | Refusal:
    try:
        document = json.loads(text)
        version, checksum, body = document["format"], document["checksum"], document["layout"]
        # The checksum is the same in every format, so that damage is not taken for a later format.
        whole = checksum == _checksum(version, body) and isinstance(body, dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        return _damaged("it is no JSON object with a format, a checksum and a layout")
    if not whole:
        return _damaged("its checksum differs")
    version_read = LAYOUT.read_version(version, "it")
    if isinstance(version_read, VersionRefusal):
        return Refusal(version_read.reason, "layout", version_read.message, version_read.hint or _RESTORE)
    layout: dict[str, Any] = body
    return layout


def _checksum(version: object, body: object) -> str:
    return hashlib.sha256(_canonical([version, body]).encode()).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _damaged(what: str) -> Refusal:
    return Refusal(
        Reason.DAMAGED_DATA,
        "layout",
        f"it cannot be read: {what}",
        _RESTORE,
    )
