"""The log settings of an app's processes, as the operator resolves and their environment carries them.

A variable that is missing or has another value than those of this version leaves the default in force: what a
process logs is no reason to refuse its start.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from streamapp.spec.log_levels import LOG_LEVELS, SPARK_LEVEL_VARIABLE, LogLevel

if TYPE_CHECKING:  # an executor reads its variables before its JVM starts, and needs no models for that
    from streamapp.spec.resource.runtime_policies import Logging

FORMAT_VARIABLE: Final = "STREAMAPP_LOG_FORMAT"
LEVEL_VARIABLE: Final = "STREAMAPP_LOG_LEVEL"
LOGGERS_VARIABLE: Final = "STREAMAPP_LOGGERS"

LogFormat = Literal["json", "text"]
DEFAULT_FORMAT: Final[LogFormat] = "json"
DEFAULT_LEVEL: Final[LogLevel] = "info"


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Format and levels of one app's lines."""

    format: LogFormat = DEFAULT_FORMAT
    level: LogLevel = DEFAULT_LEVEL  # of StreamApp and of the app's Python
    spark_level: LogLevel | None = None  # None: warnings of executors, and less of drivers
    loggers: tuple[tuple[str, LogLevel], ...] = ()  # by name

    @classmethod
    def of(cls, app: "Logging", installation: "Logging") -> "LogSettings":
        """Those of an app; what it leaves out is the installation's."""
        return cls(
            format=app.format or installation.format or DEFAULT_FORMAT,
            level=app.level or installation.level or DEFAULT_LEVEL,
            spark_level=app.spark_level or installation.spark_level,
            loggers=tuple(sorted((_by_name(installation) | _by_name(app)).items())),
        )

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> "LogSettings":
        """Those that the variables of a process carry."""
        pairs = (entry.partition("=") for entry in environment.get(LOGGERS_VARIABLE, "").split(","))
        loggers = ((name, _level(level)) for name, _, level in pairs)
        return cls(
            format="text" if environment.get(FORMAT_VARIABLE) == "text" else DEFAULT_FORMAT,
            level=_level(environment.get(LEVEL_VARIABLE, "")) or DEFAULT_LEVEL,
            spark_level=_level(environment.get(SPARK_LEVEL_VARIABLE, "")),
            loggers=tuple((name, level) for name, level in loggers if name and level is not None),
        )

    def variables(self) -> dict[str, str]:
        """The variables of a process that is to log so."""
        variables: dict[str, str] = {FORMAT_VARIABLE: self.format, LEVEL_VARIABLE: self.level}
        if self.spark_level is not None:
            variables[SPARK_LEVEL_VARIABLE] = self.spark_level
        if self.loggers:
            variables[LOGGERS_VARIABLE] = ",".join(f"{name}={level}" for name, level in self.loggers)
        return variables


def _by_name(logging: "Logging") -> dict[str, LogLevel]:
    return {logger.name: logger.level for logger in logging.loggers}


def _level(text: str) -> LogLevel | None:
    return next((level for level in LOG_LEVELS if level == text.lower()), None)
