"""Whether a driver can be started now, given what is known of the streams and of the model."""

from collections.abc import Iterator

from streamapp.author.app_streams import is_embedded
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.driver_actions import DriverAction, HoldStart, StartDriver
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    PendingCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan
from streamapp_operator.reconciler.planning.model_update import ModelUpdate

PLAN_AGAIN_SECONDS = 30.0


def hold_start(
    move: DriverAction,
    target: AcceptedGeneration | None,
    authored: GenerationPlan | None,
    modelled: ModelUpdate | Refusal | None,
) -> DriverAction:
    """The move, or what it has to wait for.

    A model in force is started also while the brokers are away: nothing that the operator could learn from
    them is worth more than a driver that is there when they come back.
    """
    if not isinstance(move, StartDriver) or target is None or is_embedded(target.accepted.app):
        return move
    return next(_holds(authored, modelled), move)


def _holds(authored: GenerationPlan | None, modelled: ModelUpdate | Refusal | None) -> Iterator[HoldStart]:
    if isinstance(modelled, Refusal):
        yield HoldStart(modelled.reason, str(modelled), PLAN_AGAIN_SECONDS)
        return
    if authored is not None and authored.by_driver:
        return
    if authored is None or isinstance(authored.counts, PendingCounts):
        yield HoldStart(ConditionReason.NOT_PLANNED_YET, "the partition counts are being looked up", 0.5)
        return
    if isinstance(authored.counts, SystemMisconfigured):
        yield HoldStart(ConditionReason.NOT_PLANNED_YET, authored.counts.message, authored.counts.seconds)
    if authored.rejected:
        first = authored.problems[0]
        yield HoldStart(first.reason, str(first), PLAN_AGAIN_SECONDS)
    if modelled is None or modelled.wanted.model is None:
        counts = authored.counts
        seconds = counts.seconds if isinstance(counts, SystemUnavailable) else PLAN_AGAIN_SECONDS
        yield HoldStart(
            ConditionReason.NOT_PLANNED_YET, "nobody knows how many partitions the streams have", seconds
        )
