"""Code of the app's own: how it is found, called, and what is told when it fails."""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import TracebackType
from typing import Any, cast

from streamapp.spec.reasons import Reason
from streamapp_runtime.operators.state.remote_lookup import RemoteTableUnavailableError
from streamapp_runtime.stores.store import StoreError

_OURS = __name__.partition(".")[0]


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
    module, _, name = python.partition(":")
    with user_code_guard(python, "cannot be loaded", "look whether the app's image holds it"):
        target: Any = getattr(import_module(module), name)
    if not callable(target):
        raise UserCodeError(python, "is neither a class nor a function", "name one that is")
    return cast("Callable[..., Any]", target)


@contextmanager
def user_code_guard(
    python: str, message: str, hint: str = "mend it and start the app again"
) -> Iterator[None]:
    """Whatever is raised within is the app's own error, but for what is wrong with a table."""
    try:
        yield
    except (UserCodeError, StoreError, RemoteTableUnavailableError):
        raise
    except Exception as error:
        lines = traceback.format_exception(type(error), error, _of_the_app(error.__traceback__))
        if isinstance(error, MemoryError):  # pyarrow's own error is one
            message = f"{message}, and wants more memory than there is"
            hint = "have it take less, lower batch.rows, or give the executor more memory"
        raise UserCodeError(python, f"{message}: {error!r}", hint, "".join(lines)) from error


def _of_the_app(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from where the app's own code begins: nobody learns anything of the call from here."""
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(_OURS):
        trace = trace.tb_next
    return trace
