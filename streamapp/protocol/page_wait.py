"""A sentence on a driver's page about a run that does not go as it should, and its subject."""

from dataclasses import dataclass
from enum import StrEnum


class WaitKind(StrEnum):
    """The subject of a sentence. `streamapp why` has a situation of the same name for each."""

    DRIVER_WAITS = "driver-waits"  # for a system, a table, a processor, or the end of a long batch
    STUCK_WATERMARK = "stuck-watermark"
    SLOW_TASK = "slow-task"
    SLOW_QUOTA = "slow-quota"
    SLOW_REMOTE_TABLE = "slow-remote-table"
    SLOW_CODE = "slow-code"
    SLOW_EXPRESSIONS = "slow-expressions"


@dataclass(frozen=True, slots=True)
class Wait:
    """One sentence."""

    kind: str  # a `WaitKind`, or one of a later version
    text: str
