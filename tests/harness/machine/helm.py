"""Helm, as tests call it: nothing of the user's own is read or written."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[3] / "charts" / "streamapp"
VALUES = Path(__file__).parents[2] / "chart" / "values"
KUBE = "1.34.4"
"""What templates are rendered for; Helm built by `go install` takes it for something very old."""


def value_sets() -> list[str]:
    """The sets of values that tests render."""
    return sorted(file.stem for file in VALUES.glob("*.yaml"))


def value_set(name: str) -> str:
    """The option that names one of them."""
    return f"--values={VALUES / name}.yaml"


@dataclass(frozen=True, slots=True)
class Helm:
    """Helm with a home of its own."""

    program: Path
    home: Path

    def run(self, *args: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *args],
            input=given,
            env={"HOME": str(self.home), "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )

    def rendered(self, *args: str | Path, given: str = "") -> str:
        """All templates, as they would be installed as `streamapp` in `streamapp-system`."""
        name = ("streamapp", CHART, "--namespace=streamapp-system", f"--kube-version={KUBE}")
        done = self.run("template", *name, *args, given=given)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def objects(self, *args: str | Path, given: str = "") -> list[dict[str, Any]]:
        """The objects of all templates."""
        return [one for one in yaml.safe_load_all(self.rendered(*args, given=given)) if one]


def of_kind(objects: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """Those of one kind, by name, and by namespace where there are several of one name."""
    return {
        f"{one['metadata'].get('namespace', '')}/{one['metadata']['name']}": one
        for one in objects
        if one["kind"] == kind
    }
