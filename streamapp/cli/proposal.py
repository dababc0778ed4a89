"""What `tasks` and `place` share: read the app and the world, and end where there is nothing to show."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from streamapp.author.previous import Previous, read_previous
from streamapp.author.proposal import Proposal, World, propose
from streamapp.cli.counts import Told, counts, live
from streamapp.spec.app import StreamApp
from streamapp.spec.config_keys import ALGORITHM
from streamapp.spec.problem import Problem
from streamapp.tasks.algorithm import modulo
from streamapp.tasks.grouper import BUILT_IN_GROUPERS


def previous_answer(path: Path | None) -> Previous:
    """The earlier answer that the option names."""
    if path is None:
        return Previous()
    found = read_previous(path.read_text(encoding="utf-8", errors="replace"))
    if isinstance(found, Problem):
        raise click.UsageError(f"{path}: {found}")
    return found


def proposal(
    app: StreamApp, told: Told, before: Previous, names: tuple[str, ...] | None
) -> tuple[Proposal, Previous]:
    """The app planned and its tasks formed, and what they were formed after.

    An earlier answer that was named goes before the layout that lies with the app's state.
    """
    looked = live(app, told)
    if before.layout is None:
        before = replace(before, layout=looked.layout)
    algorithm = app.spec.config.get(ALGORITHM)
    own = None if app.spec.grouper in BUILT_IN_GROUPERS else _function(app.spec.grouper, "spec.grouper")
    world = World(
        counts=counts(app, told, looked),
        layout=before.layout,
        run=looked.run,
        processors=names,
        algorithm=_function(algorithm, f"spec.config.{ALGORITHM}") if algorithm else modulo,
        grouper=own,
    )
    return propose(app, world), before


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
