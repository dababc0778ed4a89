"""`breakpoint()` in the app's own code: the debugger, or a line where there is no terminal."""

import os
import pdb
import sys
from inspect import currentframe
from typing import Any

import click


class DebuggerLeftError(BaseException):
    """The user has left the debugger: the batch is not tried again, as it would be after an error."""


class LeavingDebugger(pdb.Pdb):
    """The debugger; `quit` ends the version, not only the batch."""

    def set_quit(self) -> None:
        """Leave."""
        sys.settrace(None)
        raise DebuggerLeftError


def install_debugger() -> None:
    """Have `breakpoint()` work, unless the user has chosen a debugger by PYTHONBREAKPOINT."""
    if "PYTHONBREAKPOINT" not in os.environ:
        has_terminal = sys.stdin is not None and sys.stdin.isatty()
        sys.breakpointhook = _debug if has_terminal else _pass_over
    vars(pdb)["Pdb"] = LeavingDebugger  # which `pdb.set_trace()` opens


def _debug(*_: Any, **__: Any) -> None:
    frame = currentframe()
    LeavingDebugger().set_trace(frame.f_back if frame else None)


def _pass_over(*_: Any, **__: Any) -> None:
    frame = currentframe()
    caller = frame.f_back if frame else None
    place = f" at line {caller.f_lineno} of {caller.f_code.co_filename}" if caller else ""
    click.echo(f"breakpoint(){place} is passed over: standard input is no terminal", err=True)
