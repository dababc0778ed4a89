"""The levels that `spec.logging` may name, and the variable that carries Spark's."""

from typing import Final, Literal, get_args

LogLevel = Literal["trace", "debug", "info", "warn", "error", "fatal"]
LOG_LEVELS: Final[tuple[LogLevel, ...]] = get_args(LogLevel)
"""From the one that logs most. There is no `off`, which YAML reads as false."""
SPARK_LEVEL_VARIABLE: Final = "STREAMAPP_SPARK_LOG_LEVEL"
"""The operator sets it in the containers of driver and executors."""
