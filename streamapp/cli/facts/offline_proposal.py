"""The offline proposal behind `plan`, `tasks` and `place`: an app planned from its options."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from streamapp.author.proposal import PlanningInputs, Proposal, propose
from streamapp.cli.documents.previous_answer import PreviousAnswer, parse_previous_answer
from streamapp.cli.facts.count_options import CountOptions, KnownPartitions, known_partitions, look_up_systems
from streamapp.cli.facts.live_lookup import LiveFacts
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.groupers.grouper import BUILT_IN_GROUPERS


def read_previous_answer(path: Path | None) -> PreviousAnswer:
    """The previous answer in the file of `--previous`."""
    if path is None:
        return PreviousAnswer()
    answer = parse_previous_answer(path.read_text(encoding="utf-8", errors="replace"))
    if isinstance(answer, Problem):
        raise click.UsageError(f"{path}: {answer}")
    return answer


def offline_proposal(
    app: StreamApp, options: CountOptions, previous: PreviousAnswer
) -> tuple[Proposal, PreviousAnswer]:
    """The planned app with its tasks, and the previous answer that the tasks were formed with.

    The layout of a named previous answer overrides the layout that lies with the app's state.
    """
    live_facts = look_up_systems(app, options)
    if previous.layout is None:
        previous = replace(previous, layout=live_facts.layout)
    known = known_partitions(app, options, live_facts)
    return displayed_plan(app, replace(live_facts, layout=previous.layout), known), previous


def displayed_plan(app: StreamApp, live_facts: LiveFacts, known: KnownPartitions) -> Proposal:
    """The plan with its tasks; an app with a layout is planned with the counts at first state."""
    inputs = PlanningInputs(
        known.counts,
        live_facts.layout,
        live_facts.run,
        counted_by=known.counted_by,
        asked=frozenset(live_facts.counts),
    )
    return propose(app, _with_user_functions(app, inputs))


def _with_user_functions(app: StreamApp, inputs: PlanningInputs) -> PlanningInputs:
    """The inputs with the app's own grouper and expansion algorithm, where it names any."""
    grouper, algorithm = app.spec.grouper, app.spec.config.get(ALGORITHM)
    return replace(
        inputs,
        algorithm=_load_function(algorithm, f"spec.config.{ALGORITHM}") if algorithm else inputs.algorithm,
        grouper=None if grouper in BUILT_IN_GROUPERS else _load_function(grouper, "spec.grouper"),
    )


def show_rejected_plan(name: str, proposal: Proposal) -> None:
    """Show the plan of an app without tasks: its plan is rejected."""
    from streamapp.plan.render.forms import FORMS

    click.echo(FORMS["text"](name, proposal.graph, proposal.plan, sys.stdout.isatty()), nl=False)


def _load_function(reference: str, field: str) -> Any:
    """A user's own function; the offline commands run on the user's machine, with the user's code."""
    module, _, name = reference.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), name)
    except Exception as error:  # an error of the user's module is a usage error
        raise click.UsageError(f"{field}: cannot load {reference}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
