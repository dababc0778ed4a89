"""The settings that keep the names the design documents gave them: `spec.config`.

One table: the reference page, the checks and the look-ups all read it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.value_types.scalars import MEANING, PYTHON_REFERENCE, is_python_reference


@dataclass(frozen=True, slots=True)
class ConfigKey:
    """One setting. `allowed` is its range in words; `fits` decides."""

    name: str
    says: str
    allowed: str
    default: str
    effect: Effect
    fits: Callable[[str], bool]


def _whole(least: int, most: int) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        return bool(re.fullmatch(r"[0-9]{1,18}", text)) and least <= int(text) <= most

    return fits


PARTITIONS = "job.intermediate.stream.partitions"
CONTROL_INTERVAL = "job.control.interval"
ALGORITHM = "job.systemstreampartition.expansion.algorithm"
MONITOR = "job.coordinator.monitor-partition-change"
FREQUENCY = "job.coordinator.monitor-partition-change.frequency.ms"

KEYS: Mapping[str, ConfigKey] = {
    key.name: key
    for key in (
        ConfigKey(
            PARTITIONS,
            "Partitions of an intermediate stream on which no join imposes a count.",
            "a whole number from 1 to 100000",
            "the largest count over inputs and outputs, 256 at most",
            Effect.REPLAN,
            _whole(1, 100_000),
        ),
        ConfigKey(
            ALGORITHM,
            "The function (index, current count, initial count) -> initial index: where the keys of a "
            "partition were before its stream grew.",
            MEANING[PYTHON_REFERENCE],
            "index mod initial count",
            Effect.REPLAN,
            is_python_reference,
        ),
        ConfigKey(
            MONITOR,
            "Whether growth of input streams is looked for while the app runs.",
            '"true" or "false"',
            "true",
            Effect.LIVE,
            lambda text: text in {"true", "false"},
        ),
        ConfigKey(
            FREQUENCY,
            "How often growth is looked for, in milliseconds.",
            "a whole number from 1000 to 86400000",
            "300000",
            Effect.LIVE,
            _whole(1_000, 86_400_000),
        ),
        ConfigKey(
            CONTROL_INTERVAL,
            "The shortest time between two watermarks that a task writes, in milliseconds.",
            "a whole number from 0 to 3600000",
            "1000",
            Effect.LIVE,
            _whole(0, 3_600_000),
        ),
    )
}
