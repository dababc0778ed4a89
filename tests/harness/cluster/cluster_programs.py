"""The programs that the tests drive, and what they said when they failed."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
NEEDED = ("docker", "kind", "kubectl", "helm")


class ProgramError(AssertionError):
    """A program ended with something else than 0; the message says what it said."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where each program is."""

    paths: Mapping[str, str]

    @classmethod
    def found(cls) -> "Programs":
        """Those of KUBEBUILDER_ASSETS, else those of the PATH; a RuntimeError names what is missing."""
        folders = [os.environ.get("KUBEBUILDER_ASSETS", ""), os.environ.get("PATH", os.defpath)]
        search = os.pathsep.join(folder for folder in folders if folder)
        paths = {name: shutil.which(name, path=search) for name in NEEDED}
        if missing := [name for name, path in paths.items() if path is None]:
            raise RuntimeError(
                f"end-to-end tests need {', '.join(missing)}: put them on the PATH or into KUBEBUILDER_ASSETS"
            )
        return cls({name: path for name, path in paths.items() if path})

    def run(self, *command: str | Path, given: str | None = None, limit: float = 120) -> str:
        """What a program wrote; a ProgramError with what it complained of when it failed."""
        done = self.tried(*command, given=given, limit=limit)
        if done.returncode != 0:
            said = f"{done.stdout}{done.stderr}"[-4000:]
            raise ProgramError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{said}")
        return done.stdout

    def tried(
        self, *command: str | Path, given: str | None = None, limit: float = 120
    ) -> subprocess.CompletedProcess[str]:
        """How a program ended that may well fail."""
        return subprocess.run(
            self._named(command),
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            cwd=REPOSITORY,
        )

    def _named(self, command: Sequence[str | Path]) -> list[str]:
        name, *rest = map(str, command)
        return [self.paths.get(name, name), *rest]
