"""Code of the app's own: how it is found, called, and what is told when it fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import StackSummary, TracebackException, walk_tb
from types import FrameType
from typing import Any, Final, cast

from streamapp.installed_code import is_installed
from streamapp.internal_fault import OWN_PACKAGES
from streamapp.spec.reasons import Reason
from streamapp_runtime.named_python import named_python
from streamapp_runtime.operators.state.remote_lookup import RemoteTableUnavailableError
from streamapp_runtime.stores.store import StoreError

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


class UserCodeError(Exception):
    """The app's own code failed, or gave what it must not; the text holds its traceback where it has one."""

    def __init__(self, python: str, message: str, hint: str, trace: str = "") -> None:
        super().__init__(f"{python} {message}; {hint}" + (f"\n{trace}" if trace else ""))
        self.reason = Reason.USER_CODE_FAILED
        self.python = python
        self.message = message
        self.hint = hint
        self.trace = trace


def load_user_code(python: str) -> Callable[..., Any]:
    """The class or function that `package.module:name` names."""
    with user_code_guard(python, "cannot be loaded", "look whether the app's image holds it"):
        target: Any = named_python(python)
    if not callable(target):
        raise UserCodeError(python, "is neither a class nor a function", "name one that is")
    return cast("Callable[..., Any]", target)


@contextmanager
def user_code_guard(
    python: str, message: str, hint: str = "fix it and start the app again"
) -> Iterator[None]:
    """Whatever is raised within is the app's own error, but for what is wrong with a table."""
    try:
        yield
    except (UserCodeError, StoreError, RemoteTableUnavailableError):
        raise
    except SystemExit as error:  # it would end the worker, and nobody would know whose code did
        message = f"{message}: it ended the process: sys.exit({_representation(error.code)})"
        raise UserCodeError(python, message, "take sys.exit out of it", user_traceback(error)) from error
    except Exception as error:
        if isinstance(error, MemoryError):  # pyarrow's own error is one
            message = f"{message}, and wants more memory than there is"
            hint = "have it take less, lower batch.rows, or give the executor more memory"
        raise UserCodeError(
            python, f"{message}: {_error_text(error)}", hint, user_traceback(error)
        ) from error


def _error_text(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"  # whose text has the file and the line
    return _representation(error)


def _representation(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # a `__repr__` is the app's own code too
        return f"a {type(value).__name__}, of which no text can be made"
