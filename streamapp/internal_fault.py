"""An exception of the product's own code, as one sentence with the place in that code."""

import errno
from traceback import walk_tb
from typing import Final

from streamapp.spec.problem import short

MOST_CHARACTERS: Final = 300
OWN_PACKAGES: Final = frozenset({"streamapp", "streamapp_operator", "streamapp_runtime"})
"""The product's own code; frames of others are the app's or a library's."""
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def unexpected_failure(error: BaseException) -> str:
    """The sentence about an exception that nothing handles: of a full disk, or of the product's own code."""
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        name = error.filename or "a file"
        return f"a disk is full, and {name} could not be written: make room where state and streams are"
    return f"StreamApp itself {internal_fault(error)}; report this"


def internal_fault(error: BaseException) -> str:
    """The failure in one line: the product's innermost module and line, the exception's type and its text."""
    places = [
        f"{module}:{line}"
        for frame, line in walk_tb(error.__traceback__)
        if (module := str(frame.f_globals.get("__name__", ""))).partition(".")[0] in OWN_PACKAGES
    ]
    place = places[-1] if places else "an unknown place"
    return f"failed at {place} ({type(error).__name__}: {short(str(error), MOST_CHARACTERS)})"
