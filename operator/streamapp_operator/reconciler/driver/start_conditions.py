"""The conditions for the start of a driver now, by the state of the plan and of the model."""

from collections.abc import Iterator

from streamapp.author.app_streams import is_embedded
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.driver_actions import DriverAction, HoldStart, StartDriver
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    LookupEnded,
    PendingCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan
from streamapp_operator.reconciler.planning.model_update import ModelUpdate

PLAN_AGAIN_SECONDS = 30.0
NAMES_AGAIN_SECONDS = 15.0


def hold_start(
    action: DriverAction,
    target: AcceptedGeneration | None,
    plan: GenerationPlan | None,
    model: ModelUpdate | Refusal | None,
    names_in_the_way: str = "",
) -> DriverAction:
    """The action, or the condition that it has to wait for.

    A driver with a model in force starts even while the brokers are unavailable, so that it runs when they
    are back.
    """
    if not isinstance(action, StartDriver) or target is None:
        return action
    if names_in_the_way:
        return HoldStart(ConditionReason.NAME_TAKEN, names_in_the_way, NAMES_AGAIN_SECONDS)
    if is_embedded(target.accepted.app):
        return action
    return next(_holds(plan, model), action)


def _holds(plan: GenerationPlan | None, model: ModelUpdate | Refusal | None) -> Iterator[HoldStart]:
    if isinstance(model, Refusal):
        yield HoldStart(model.reason, str(model), PLAN_AGAIN_SECONDS)
        return
    if plan is not None and plan.planned_by_driver:
        return
    if plan is None or isinstance(plan.counts, PendingCounts):
        yield HoldStart(ConditionReason.NOT_PLANNED_YET, "the partition counts are being looked up", 0.5)
        return
    if isinstance(plan.counts, SystemMisconfigured):
        yield HoldStart(ConditionReason.NOT_PLANNED_YET, plan.counts.message, plan.counts.seconds)
    if plan.rejected:
        problem = plan.problems[0]
        yield HoldStart(problem.reason, str(problem), PLAN_AGAIN_SECONDS)
    if model is None or model.wanted.model is None:
        counts = plan.counts
        failures = (SystemUnavailable, LookupEnded)
        seconds = counts.seconds if isinstance(counts, failures) else PLAN_AGAIN_SECONDS
        yield HoldStart(
            ConditionReason.NOT_PLANNED_YET, "the partition counts of the streams are not known yet", seconds
        )
