"""Tracebacks of the app's own code, as its author reads them: without the product's frames."""

from pathlib import Path
from traceback import StackSummary, TracebackException, walk_tb
from types import FrameType
from typing import Final

from streamapp.installed_code import is_installed
from streamapp.internal_fault import OWN_PACKAGES

_HIDDEN: Final = OWN_PACKAGES | {"importlib", "pyspark", "py4j"}
"""Frames of these say how the code was called, or what it called of the product, not what is wrong in it."""


def user_traceback(error: BaseException) -> str:
    """The traceback of an error; empty where it holds no line of the app's own.

    An error that a library met and replaced by its own is left out: the user's frames would come after it.
    """
    shown = TracebackException.from_exception(error)
    package = next((_package(frame) for frame in _frames(error) if _package(frame) not in _HIDDEN), "")
    _reduce(shown, error, package)
    is_empty = not shown.stack and not isinstance(error, SyntaxError)
    return "" if is_empty else "".join(shown.format())


def _reduce(shown: TracebackException, error: BaseException, package: str) -> None:
    """Take the hidden frames out, and errors that came before in frames of libraries only.

    `package`: the one that was called first is the app's own, installed or not.
    """
    while True:
        visible = (_package(frame) not in _HIDDEN for frame in _frames(error))
        shown.stack = StackSummary.from_list(
            [summary for summary, is_visible in zip(shown.stack, visible, strict=False) if is_visible]
        )
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        shown_before = shown.__cause__ if error.__cause__ else shown.__context__
        if before is None or shown_before is None:
            return
        if not any(_is_users(frame, package) for frame in _frames(before)):
            shown.__cause__ = shown.__context__ = None
            return
        shown, error = shown_before, before


def _frames(error: BaseException) -> list[FrameType]:
    return [frame for frame, _ in walk_tb(error.__traceback__)]


def _is_users(frame: FrameType, package: str) -> bool:
    if _package(frame) in _HIDDEN:
        return False
    file = frame.f_globals.get("__file__")  # compiled code names its source in a path of where it was built
    return _package(frame) == package or (isinstance(file, str) and not is_installed(Path(file)))


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
