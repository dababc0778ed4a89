"""What is known of an app where it lives: the counts of today, the layout, what is refused.

A cluster knows of an app before it is applied; its systems know of it wherever it runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

import click

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Which cluster, as a user of kubectl says it."""

    namespace: str | None = None
    kubeconfig: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class SystemAccess:
    """How systems are reached from this machine, as for `streamapp run`."""

    data: Path | None = None  # in place of the path of an embedded system
    secrets: Path | None = None  # the entries of configSecret


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """What was found."""

    counts: Mapping[str, int | None] = field(default_factory=dict)
    layout: Layout | None = None
    run: str = ""
    problems: tuple[Problem, ...] = ()


class LookupRefusedError(Exception):
    """It cannot be asked as it was wanted; the message says why."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to look, which another part of the installation brings: an entry point of this group."""

    group: str
    option: str
    extra: str


_CLUSTER = _Way("streamapp.cluster", "--cluster", "operator")
_SYSTEMS = _Way("streamapp.live", "--live", "runtime")


def look_up(app: StreamApp, asked: ClusterAccess | SystemAccess) -> LiveFacts:
    """Ask the cluster, or the systems: a UsageError where that cannot be done from here."""
    way = _CLUSTER if isinstance(asked, ClusterAccess) else _SYSTEMS
    for entry in entry_points(group=way.group):
        try:
            found: LiveFacts = entry.load()(app, asked)
        except ModuleNotFoundError as error:
            message = f"{way.option} needs the module {error.name}, which is not installed: {_wanted(way)}"
            raise click.UsageError(message) from None
        except LookupRefusedError as error:
            raise click.UsageError(str(error)) from None
        return found
    raise click.UsageError(f"{way.option} needs the {way.extra}'s part: {_wanted(way)}")


def _wanted(way: _Way) -> str:
    return f'pip install "streamapp[{way.extra}]"'
