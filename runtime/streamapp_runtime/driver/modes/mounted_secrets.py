"""The values of the Secrets that a driver was given: nothing that it says outside repeats them."""

import os
from collections.abc import Iterator
from pathlib import Path

from streamapp.spec.resource.app import StreamApp


def secret_values(folder: Path | None, app: StreamApp) -> tuple[str, ...]:
    """The values below the folder with a folder of each system's, and those of variables."""
    return tuple({*_of_systems(folder), *_of_variables(app)} - {""})


def _of_systems(folder: Path | None) -> Iterator[str]:
    for file in folder.glob("*/*") if folder is not None else ():
        if file.is_file() and not file.name.startswith("."):
            yield file.read_text("utf-8", errors="replace").rstrip("\n")


def _of_variables(app: StreamApp) -> Iterator[str]:
    for variable in app.spec.env:
        if variable.value_from is not None and variable.value_from.secret_key_ref is not None:
            yield os.environ.get(variable.name, "")
