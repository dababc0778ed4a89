"""The parts of a batch that are one with its checkpoints."""

from collections.abc import Iterable
from enum import StrEnum

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec


class DeliveryGuarantee(StrEnum):
    """The records that a lane writes as one."""

    EXACTLY_ONCE = "exactlyOnce"  # everything
    STATE = "state"  # changelogs and checkpoints; outputs are there before
    AT_LEAST_ONCE = "atLeastOnce"  # nothing: checkpoints come last


def delivery_guarantee_of(app: StreamApp, specs: Iterable[StoreSpec]) -> DeliveryGuarantee:
    """The delivery guarantee of an app: the records that its lanes write as one.

    State is never apart from the positions that it rests on, whatever the app asks for: a changelog that is
    ahead could only be taken back by what compaction may have removed.
    """
    if app.spec.delivery == "exactlyOnce":
        return DeliveryGuarantee.EXACTLY_ONCE
    has_changelog = any(spec.changelog is not None for spec in specs)
    return DeliveryGuarantee.STATE if has_changelog else DeliveryGuarantee.AT_LEAST_ONCE
