"""Code of the app's own: how it is found, called, and what is told when it fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, cast

from streamapp.spec.reasons import Reason
from streamapp_runtime.operators.state.remote_lookup import RemoteTableUnavailableError
from streamapp_runtime.operators.user_code.user_traceback import user_traceback
from streamapp_runtime.stores.store import StoreError


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
