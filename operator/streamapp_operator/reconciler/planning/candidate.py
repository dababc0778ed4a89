"""A generation that the running driver is asked about before it is accepted: Spark judges what is left.

The operator has no Spark and runs no code of an app. A driver that runs has both. So an edit that would end
the driver is first put before it, and what it refuses ends nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from streamapp.protocol.accepted_app import encode_accepted
from streamapp.protocol.driver_report import CandidateVerdict, ReportedWarning
from streamapp.protocol.message_frame import MOST_BYTES
from streamapp.spec.problem import with_path
from streamapp.spec.resource.field_changes import Change, paths_with_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration, DriverRefusal
from streamapp_operator.reconciler.facts.facts import Facts, PublishedRun
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.planning.pod_template_rules import VARIABLE_PREFIX
from streamapp_operator.reconciler.pods.driver_pod import driver_container
from streamapp_operator.reconciler.pods.pod_shape import PodShape

VERDICT_SECONDS: Final = 30.0
"""How long the running driver has for its verdict. An edit may be what fixes a driver that hangs."""
_NOT_JUDGED: Final = frozenset({"spec.restartNonce"})
"""A restart for its own sake, perhaps of a driver that hangs."""
_CODE_FIELDS: Final = ("image", "command", "args", "envFrom", "volumeMounts")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A generation without a verdict so far."""

    text: str  # the message to the driver
    seconds_left: float


def judged(
    facts: Facts, generation: AcceptedGeneration, spec_changes: tuple[Change, ...]
) -> AcceptedGeneration | Candidate:
    """The generation with the running driver's refusal, if there is one, or as a candidate without verdict.

    As it is where no driver can be asked, or where none answers in time.
    """
    verdict = _verdict_of_running_driver(facts)
    if verdict is None or not _can_be_asked(facts.run, generation, spec_changes):
        return generation
    if verdict.generation == generation.generation:
        refusal = _refusal(verdict.refusals) if verdict.refusals else None
        return replace(generation, driver_refusal=refusal)
    since = facts.condition_since("Accepted", "Unknown", ConditionReason.AWAITING_DRIVER)
    seconds_left = VERDICT_SECONDS if since is None else since + VERDICT_SECONDS - facts.now
    text = encode_accepted(generation.accepted)
    return Candidate(text, seconds_left) if seconds_left > 0 and _fits(facts.run, text) else generation


def _verdict_of_running_driver(facts: Facts) -> CandidateVerdict | None:
    """The last verdict of the driver that runs; None where there is none that could give one."""
    report, driver = facts.run.report, facts.pods.drivers[-1] if facts.pods.drivers else None
    if report is None or driver is None or driver.life is not PodLifecycle.LIVING:
        return None
    return report.verdict if report.driver == driver.name else None


def _can_be_asked(
    run: PublishedRun, generation: AcceptedGeneration, spec_changes: tuple[Change, ...]
) -> bool:
    """True if the driver that runs has what the generation needs: its image, its code and its systems."""
    in_force = run.in_force
    restarts = set(paths_with_effect(spec_changes, Effect.RESTART)) - _NOT_JUDGED
    if in_force is None or run.desired is None or not restarts:
        return False
    before, after = in_force.accepted.app.spec, generation.accepted.app.spec
    if after.suspend or before.systems != after.systems:
        return False
    return _code_of(in_force.shape) == _code_of(generation.shape)


def _fits(run: PublishedRun, text: str) -> bool:
    """True if the ConfigMap of the job model has room for a candidate."""
    desired = run.desired
    return desired is not None and len(desired.text) + len(desired.accepted) + len(text) <= MOST_BYTES


def _code_of(shape: PodShape) -> list[Any]:
    """The fields that decide which code a driver's container finds."""
    spec: Mapping[str, Any] = shape.driver["spec"]
    driver = driver_container(spec)
    variables = [each for each in driver["env"] if not each["name"].startswith(VARIABLE_PREFIX)]
    pod_fields = [spec.get("volumes"), spec.get("initContainers"), variables]
    return [*pod_fields, *(driver.get(name) for name in _CODE_FIELDS)]


def _refusal(refusals: tuple[ReportedWarning, ...]) -> DriverRefusal:
    """All refusals as one: the first one's reason and path, and the others as lines."""
    first, *others = refusals
    lines = [first.message, *(with_path(other.path, other.message) for other in others)]
    return DriverRefusal(first.reason, first.path, "\n".join(lines))
