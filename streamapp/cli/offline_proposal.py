"""What `tasks` and `place` share: read the app and the world, and end where there is nothing to show."""

import importlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from streamapp.author.problems import refusal_problem
from streamapp.author.proposal import Proposal, World, propose
from streamapp.cli.count_options import CountOptions, known_counts, look_up_systems
from streamapp.cli.documents.previous_answer import PreviousAnswer, parse_previous_answer
from streamapp.cli.live_lookup import LiveFacts
from streamapp.graph.graph_builder import build_graph
from streamapp.plan.partition_plan import Mode
from streamapp.plan.planner import plan
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.expansion.expansion_algorithm import modulo
from streamapp.tasks.groupers.grouper import BUILT_IN_GROUPERS
from streamapp.tasks.refusal import Refusal


def read_previous_answer(path: Path | None) -> PreviousAnswer:
    """The earlier answer that the option names."""
    if path is None:
        return PreviousAnswer()
    found = parse_previous_answer(path.read_text(encoding="utf-8", errors="replace"))
    if isinstance(found, Problem):
        raise click.UsageError(f"{path}: {found}")
    return found


def offline_proposal(
    app: StreamApp, told: CountOptions, before: PreviousAnswer, names: tuple[str, ...] | None
) -> tuple[Proposal, PreviousAnswer]:
    """The app planned and its tasks formed, and what they were formed after.

    An earlier answer that was named goes before the layout that lies with the app's state.
    """
    looked = look_up_systems(app, told)
    if before.layout is None:
        before = replace(before, layout=looked.layout)
    algorithm = app.spec.config.get(ALGORITHM)
    own = None if app.spec.grouper in BUILT_IN_GROUPERS else _function(app.spec.grouper, "spec.grouper")
    world = World(
        counts=known_counts(app, told, looked),
        layout=before.layout,
        run=looked.run,
        processors=names,
        algorithm=_function(algorithm, f"spec.config.{ALGORITHM}") if algorithm else modulo,
        grouper=own,
    )
    return propose(app, world), before


def show_rejected_plan(name: str, proposed: Proposal) -> None:
    """An app whose plan is rejected has no tasks: show the plan instead."""
    from streamapp.plan.render.forms import FORMS

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


def displayed_plan(app: StreamApp, looked: LiveFacts, known: Mapping[str, int | None]) -> Proposal:
    """The plan, with the counts at first state where the cluster knows of state."""
    if looked.layout is not None:
        return propose(app, World(known, looked.layout, looked.run))
    graph = build_graph(app, known)
    return Proposal(graph, plan(graph, config=app.spec.config, mode=Mode(app.spec.mode)), None)


def task_problems(app: StreamApp, proposal: Proposal) -> tuple[Problem, ...]:
    """Why tasks with state could not be formed, where that is so."""
    return (refusal_problem(app, proposal.tasks),) if isinstance(proposal.tasks, Refusal) else ()
