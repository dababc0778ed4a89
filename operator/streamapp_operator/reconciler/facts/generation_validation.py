"""The app of a resource, and why it could not start: work that grows with the resource alone."""

import logging
from dataclasses import dataclass

from streamapp.author.start_problems import start_problems
from streamapp.spec.parser import parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.facts import NewestGeneration
from streamapp_operator.reconciler.internal_error import internal_error

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GenerationValidation:
    """A parsed generation, and the problems with which it could not start."""

    newest: NewestGeneration
    start_problems: tuple[Problem, ...]


def validate_generation(manifest: Manifest) -> GenerationValidation:
    """Parse a resource and look for all that speaks against a start."""
    newest = newest_generation(manifest)
    try:
        return GenerationValidation(newest, start_problems(newest.app) if newest.app else ())
    except Exception as error:
        _log.exception(
            "generation %d of %s cannot be checked", newest.generation, manifest["metadata"]["name"]
        )
        problem = internal_error(error)
        return GenerationValidation(NewestGeneration(newest.generation, None, (problem,)), (problem,))


def newest_generation(manifest: Manifest) -> NewestGeneration:
    """The generation of a resource, whatever the resource holds."""
    generation = manifest["metadata"]["generation"]
    try:
        parsed = parse_data(manifest)
    except Exception as error:
        _log.exception("generation %d of %s cannot be parsed", generation, manifest["metadata"]["name"])
        return NewestGeneration(generation, None, (internal_error(error),))
    app = parsed.apps[0] if parsed.apps else None
    return NewestGeneration(generation, app, parsed.problems)


def too_costly(manifest: Manifest, limit: str) -> GenerationValidation:
    """The validation of a generation whose parsing and checking took more than it may."""
    message = f"checking this app takes more than {limit}; use shorter expressions, or several apps"
    problem = Problem(0, 0, "spec", message, Reason.TOO_LARGE)
    return GenerationValidation(NewestGeneration(manifest["metadata"]["generation"], None, (problem,)), ())
