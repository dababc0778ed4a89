"""The steps of a driver's start, each with the time at which the driver had taken it."""

from collections.abc import Mapping
from enum import StrEnum


class StartStep(StrEnum):
    """A step that a driver has behind it, in the order in which the steps come."""

    PROCESS = "process"  # it has begun
    SPARK = "spark"  # its JVM and Spark's session are there
    STANDBY = "standby"  # it waits to take over
    TAKE_OVER = "takeOver"  # the driver before it has ended
    LAUNCH = "launch"  # the app is compiled, for a model that fits its state
    BATCH = "batch"  # the first batch is committed


StartTimes = Mapping[str, float]
"""Step -> seconds since 1970. A later version may know further steps."""
