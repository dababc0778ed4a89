"""The meaning of an error of a store's library: no room, a store that is not to be trusted, or neither.

Both libraries tell most errors of the operating system apart by their text only.
"""

import errno
import os
from pathlib import Path

from streamapp_runtime.stores.store import StoreBusyError, StoreDamagedError, StoreFullError

_NO_ROOM = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)))
_NOT_THE_STORES = tuple(
    map(os.strerror, (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EROFS))
)
_CUT_SHORT = os.strerror(errno.EIO)  # LMDB's word for a write of which only a part found room
_OPEN_HERE = "lock hold by current process"


def translate_store_error(error: Exception, directory: Path, *, writing: bool) -> Exception:
    """The error to raise for a library's; the same one where emptying the store would not fix it."""
    text = str(error)
    if any(name in text for name in _NO_ROOM) or (writing and _CUT_SHORT in text):
        return StoreFullError(f"no room to write to {directory}: {text}")
    if _OPEN_HERE in text:
        return StoreBusyError(str(directory), os.getpid())
    if any(name in text for name in _NOT_THE_STORES):
        return error
    return StoreDamagedError(f"{directory} cannot be used: {text}")
