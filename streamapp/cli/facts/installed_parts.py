"""What other parts of the installation do for this command, as entry points of a group each."""

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class InstalledPart:
    """What an option needs of another package: its group of entry points, and the extra that installs it."""

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
