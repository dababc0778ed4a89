"""A task's books as text, small enough to be part of every checkpoint.

What a thousand upstream tasks said differs little from task to task, and even less from partition to
partition: names stand there once, times as distances, and zlib takes away the repetition that is left.
"""

import json
import zlib
from base64 import b64decode, b64encode

from pydantic import ValidationError

from streamapp.control.bookkeeping import Bookkeeping
from streamapp.control.bookkeeping_form import WrittenBookkeeping, bookkeeping_of, written_bookkeeping
from streamapp.durable_forms import BOOKKEEPING, VersionRefusal
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal

# What a reader unpacks at most, so that a few damaged bytes cannot fill the memory.
_UNPACKED_LIMIT = 256 * 1024 * 1024


def encode_bookkeeping(books: Bookkeeping) -> str:
    """The books, or changes to them, as ASCII text."""
    document = f'{{"format":{BOOKKEEPING.version},"books":{written_bookkeeping(books).model_dump_json()}}}'
    return b64encode(zlib.compress(document.encode(), 6)).decode()


def decode_bookkeeping(text: str) -> Bookkeeping | Refusal:
    """The books in a text that `encode` wrote, or a refusal: books are never guessed."""
    try:
        unpack = zlib.decompressobj()
        body = unpack.decompress(b64decode(text, validate=True), _UNPACKED_LIMIT)
        if not unpack.eof or unpack.unused_data:
            return _damaged("it does not end where it should")
        document = json.loads(body)
        version = BOOKKEEPING.read_version(document["format"], "it")
        if isinstance(version, VersionRefusal):
            return Refusal(version.reason, _PATH, version.message, version.hint or _RESTORE)
        return bookkeeping_of(WrittenBookkeeping.model_validate(document["books"]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return _damaged(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (ValueError, TypeError, LookupError, RecursionError, zlib.error):
        return _damaged("it is no compressed JSON object with a format and books")


_PATH = "control bookkeeping"
_RESTORE = "restore the checkpoint stream; only raise resetNonce if the state may be given up"


def _damaged(what: str) -> Refusal:
    return Refusal(
        Reason.DAMAGED_DATA,
        _PATH,
        f"it cannot be read: {what}",
        _RESTORE,
    )
