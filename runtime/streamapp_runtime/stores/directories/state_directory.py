"""The directories of state: `<root>/<applicationId>/<task>/<table>`, names quoted so as to be read back."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

_PIECE = 250
"""File systems allow names of 255 bytes; a longer one goes on in a directory below."""

_GOES_ON = "%+"

EVERY_TASK = "\x00every task"
"""In whose name a broadcast table is kept; no task has a name that begins with a NUL."""


def state_directory(root: Path, application_id: str, task: str, table: str) -> Path:
    """The directory of a task's part of a table."""
    return app_directory(root, application_id).joinpath(quoted(task), quoted(table))


def app_directory(root: Path, application_id: str) -> Path:
    """The directory in which an app's tasks have theirs."""
    return root / quoted(application_id)


def stored_apps(root: Path) -> frozenset[str]:
    """The apps that have a directory here."""
    return frozenset(map(unquoted, _below(root)))


def stored_tasks(root: Path, application_id: str) -> frozenset[str]:
    """The tasks that have a directory here."""
    return frozenset(map(unquoted, _below(app_directory(root, application_id))))


def stored_tables(root: Path, application_id: str, task: str) -> frozenset[str]:
    """The tables of a task that have a directory here."""
    return frozenset(map(unquoted, _below(app_directory(root, application_id) / quoted(task))))


def quoted(name: str) -> str:
    """A name as a relative path, of one component unless it is very long."""
    if not name:
        return "%"  # no other name is quoted so: what follows a % is never nothing
    text = quote(name, safe=" @+,=[]#()")
    if len(text) > _PIECE:
        text = text.replace(".", "%2E")
    elif text.startswith("."):
        text = "%2E" + text[1:]  # else hidden, or the directory itself or its parent
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    return f"{_GOES_ON}/".join(pieces)


def unquoted(text: str) -> str:
    """The name that was quoted."""
    return "" if text == "%" else unquote(text.replace(f"{_GOES_ON}/", ""))


def _below(directory: Path, before: str = "") -> Iterator[str]:
    for entry in directory.iterdir() if directory.is_dir() else ():
        if not entry.is_dir():
            continue
        if entry.name.endswith(_GOES_ON):
            yield from _below(entry, f"{before}{entry.name}/")
        else:
            yield before + entry.name
