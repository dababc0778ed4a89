"""What a cluster says about an app before it is applied: the counts of today, the layout, what is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points

import click

from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.tasks.layout import Layout

GROUP = "streamapp.cluster"
"""Entry points of this group are ways to look into a cluster; the operator brings one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which cluster, as a user of kubectl says it."""

    namespace: str | None = None
    kubeconfig: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found."""

    counts: Mapping[str, int | None] = field(default_factory=dict)
    layout: Layout | None = None
    run: str = ""
    problems: tuple[Problem, ...] = ()


class NoLookError(Exception):
    """The cluster could not be looked into; the message says why."""


def look(app: StreamApp, asked: Asked) -> Looked:
    """Ask the cluster; an error of use where that cannot be done from here."""
    for entry in entry_points(group=GROUP):
        try:
            found: Looked = entry.load()(app, asked)
        except ModuleNotFoundError as error:
            wanted = f'pip install "streamapp[{",".join(entry.extras)}]"'
            message = f"--cluster needs the module {error.name}, which is not installed: {wanted}"
            raise click.UsageError(message) from None
        except NoLookError as error:
            raise click.UsageError(str(error)) from None
        return found
    raise click.UsageError('--cluster needs the operator\'s part: pip install "streamapp[operator]"')
