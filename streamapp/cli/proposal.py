"""What `tasks` and `place` share: read the app and the world, and end where there is nothing to show."""

import importlib
import sys
from pathlib import Path
from typing import Any

import click

from streamapp.author.previous import Previous, read_previous
from streamapp.author.proposal import Proposal, World, propose
from streamapp.cli.counts import counts
from streamapp.spec.app import StreamApp
from streamapp.spec.config_keys import ALGORITHM
from streamapp.spec.problem import Problem
from streamapp.tasks.algorithm import modulo

BUILT_IN = {"partition", "streamPartition", "single"}


def previous_answer(path: Path | None) -> Previous:
    """The earlier answer that the option names."""
    if path is None:
        return Previous()
    found = read_previous(path.read_text(encoding="utf-8", errors="replace"))
    if isinstance(found, Problem):
        raise click.UsageError(f"{path}: {found}")
    return found


def proposal(
    app: StreamApp,
    catalog: Path | None,
    settings: tuple[str, ...],
    before: Previous,
    names: tuple[str, ...] | None,
) -> Proposal:
    """The app planned and its tasks formed."""
    algorithm = app.spec.config.get(ALGORITHM)
    own = None if app.spec.grouper in BUILT_IN else _function(app.spec.grouper, "spec.grouper")
    world = World(
        counts=counts(app, catalog, settings),
        layout=before.layout,
        processors=names,
        algorithm=_function(algorithm, f"spec.config.{ALGORITHM}") if algorithm else modulo,
        grouper=own,
    )
    return propose(app, world)


def show_rejected_plan(name: str, proposed: Proposal) -> None:
    """An app whose plan is rejected has no tasks: show the plan instead."""
    from streamapp.plan.render import FORMS

    click.echo(FORMS["text"](name, proposed.graph, proposed.plan, sys.stdout.isatty()), nl=False)


def _function(reference: str, field: str) -> Any:
    """A user's own function; the offline commands run on the user's machine, with the user's code."""
    module, _, name = reference.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever the user's module raises is told, not ours to raise
        raise click.UsageError(f"{field}: cannot load {reference}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
