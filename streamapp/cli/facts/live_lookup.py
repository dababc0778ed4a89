"""Live facts of an app: current partition counts, the layout, refused changes.

A cluster has facts of an app before the app is applied; its systems have facts wherever the app runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import click

from streamapp.cli.facts.installed_parts import InstalledPart
from streamapp.cli.option_groups import ClusterAccess
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout


@dataclass(frozen=True, slots=True)
class SystemAccess:
    """The access to systems from this machine, as for `streamapp run`."""

    data: Path | None = None  # in place of the path of an embedded system
    secrets: Path | None = None  # the entries of configSecret


@dataclass(frozen=True, slots=True)
class LiveFacts:
    """The facts that a lookup returns."""

    counts: Mapping[str, int | None] = field(default_factory=dict)
    layout: Layout | None = None
    run: str = ""
    problems: tuple[Problem, ...] = ()


class LookupRefusedError(Exception):
    """The lookup cannot be made as requested; the message says why."""


_CLUSTER = InstalledPart("streamapp.cluster", "--cluster", "operator")
_SYSTEMS = InstalledPart("streamapp.live", "--live", "runtime")


def look_up(app: StreamApp, access: ClusterAccess | SystemAccess) -> LiveFacts:
    """Ask the cluster or the systems; a UsageError where the installation cannot do that."""
    lookup = _CLUSTER if isinstance(access, ClusterAccess) else _SYSTEMS
    try:
        facts: LiveFacts = lookup.call(app, access)
    except LookupRefusedError as error:
        raise click.UsageError(str(error)) from None
    return facts
