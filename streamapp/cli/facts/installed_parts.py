"""Functions of other parts of the installation for this command, as entry points of a group each."""

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class InstalledPart:
    """The part of another package that an option needs: its entry points' group and the extra to install."""

    group: str
    option: str
    extra: str

    def call(self, *arguments: Any) -> Any:
        """Call what stands under the group; a UsageError where the installation does not have it."""
        for entry in entry_points(group=self.group):
            try:
                return entry.load()(*arguments)
            except ModuleNotFoundError as error:
                raise self._missing(f"the module {error.name}, which is not installed") from None
        raise self._missing(f"the {self.extra}'s part")

    def _missing(self, what: str) -> click.UsageError:
        return click.UsageError(f'{self.option} needs {what}: pip install "streamapp[{self.extra}]"')
