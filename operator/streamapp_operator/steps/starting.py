"""Whether a driver can be started now, given what is known of the streams and of the model."""

from collections.abc import Iterator

from streamapp.author.streams import is_embedded
from streamapp.tasks.refusal import Refusal
from streamapp_operator.counts.answers import Misused, Pending, Unavailable
from streamapp_operator.driver.moves import Hold, Move, Start
from streamapp_operator.objects.snapshot import Snapshot
from streamapp_operator.status.why import Why
from streamapp_operator.steps.author import Authored
from streamapp_operator.steps.model import Modelled

PLAN_AGAIN_SECONDS = 30.0


def held(
    move: Move, target: Snapshot | None, authored: Authored | None, modelled: Modelled | Refusal | None
) -> Move:
    """The move, or what it has to wait for.

    A model in force is started also while the brokers are away: nothing that the operator could learn from
    them is worth more than a driver that is there when they come back.
    """
    if not isinstance(move, Start) or target is None or is_embedded(target.accepted.app):
        return move
    return next(_holds(authored, modelled), move)


def _holds(authored: Authored | None, modelled: Modelled | Refusal | None) -> Iterator[Hold]:
    if isinstance(modelled, Refusal):
        yield Hold(modelled.reason, str(modelled), PLAN_AGAIN_SECONDS)
        return
    if authored is not None and authored.by_driver:
        return
    if authored is None or isinstance(authored.counts, Pending):
        yield Hold(Why.NOT_PLANNED_YET, "the partition counts are being looked up", 0.5)
        return
    if isinstance(authored.counts, Misused):
        yield Hold(Why.NOT_PLANNED_YET, authored.counts.message, authored.counts.seconds)
    if authored.rejected:
        first = authored.problems[0]
        yield Hold(first.reason, str(first), PLAN_AGAIN_SECONDS)
    if modelled is None or modelled.wanted.model is None:
        counts = authored.counts
        seconds = counts.seconds if isinstance(counts, Unavailable) else PLAN_AGAIN_SECONDS
        yield Hold(Why.NOT_PLANNED_YET, "nobody knows how many partitions the streams have", seconds)
