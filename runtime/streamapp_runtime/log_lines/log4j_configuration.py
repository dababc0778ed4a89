"""The configuration of Log4j in the JVMs of an app: Spark's lines, in the format of all others."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from streamapp.protocol.log_settings import LogSettings
from streamapp_runtime.log_lines.line_labels import ProcessRole

_ROOT_LEVELS: Final[Mapping[ProcessRole, str]] = {ProcessRole.DRIVER: "error", ProcessRole.EXECUTOR: "warn"}
"""Where nobody has set one."""
_GATEWAY: Final = "org.apache.spark.api.python.PythonGatewayServer"
"""Spark takes its level for that of a shell: lines below it are left out, whatever the root's level is."""
_TOLD_BY_DRIVER: Final = (
    "org.apache.spark.executor",  # a batch that failed is told, and tried again, by the loop
    "org.apache.spark.api.python",
    "org.apache.spark.scheduler",
    "org.apache.spark.sql.execution",
    "org.apache.spark.network",  # what is still under way when a run ends is said to have been lost
    "org.apache.spark.rpc",
    "org.apache.spark.deploy",
    "org.apache.spark.util",
    "org.apache.spark.storage",
)
_QUIET_LEVELS: Final[Mapping[str, str]] = dict.fromkeys(_TOLD_BY_DRIVER, "off")
"""Levels of a driver where nobody has set any: its loop says what went wrong."""
_LAYOUT: Final = "appender.console.layout"
_LABELS: Final = '{"$resolver": "mdc", "stringified": true}'
"""Spark's `task_name` and the processor, which the layout itself would leave beside all other fields."""


def log4j_configuration(settings: LogSettings, app: str, role: ProcessRole) -> str:
    """The properties of a JVM of an app on a cluster."""
    is_quiet = role is ProcessRole.DRIVER and settings.spark_level is None
    root_level = settings.spark_level or _ROOT_LEVELS[role]
    levels = {**(_QUIET_LEVELS if is_quiet else {}), _GATEWAY: root_level, **dict(settings.loggers)}
    layout = _json_layout(app, role) if settings.format == "json" else _text_layout(app)
    return _properties(layout, root_level, levels)


def terminal_configuration() -> str:
    """The properties of the JVM of a run on a terminal: errors that its loop does not tell."""
    pattern = "spark: %p %c{1}: %m%n%ex{short.message}%n"
    root_level = _ROOT_LEVELS[ProcessRole.DRIVER]
    return _properties(_pattern_layout(pattern), root_level, {**_QUIET_LEVELS, _GATEWAY: root_level})


def _properties(layout: Iterable[str], root_level: str, levels: Mapping[str, str]) -> str:
    lines = [
        "appender.console.type = Console",
        "appender.console.name = console",
        "appender.console.target = SYSTEM_ERR",
        *layout,
        f"rootLogger.level = {root_level}",
        "rootLogger.appenderRef.console.ref = console",
    ]
    for number, (name, level) in enumerate(levels.items()):
        lines += [f"logger.l{number}.name = {name}", f"logger.l{number}.level = {level}"]
    return "\n".join([*lines, ""])


def _json_layout(app: str, role: ProcessRole) -> Iterator[str]:
    yield f"{_LAYOUT}.type = JsonTemplateLayout"
    yield f"{_LAYOUT}.eventTemplateUri = classpath:EcsLayout.json"
    fields = {"service.name": app or "unknown", "service.node.role": role, "labels": _LABELS}
    for number, (key, value) in enumerate(fields.items()):
        field = f"{_LAYOUT}.f{number}"
        yield f"{field}.type = EventTemplateAdditionalField"
        yield f"{field}.key = {key}"
        yield f"{field}.value = {value}"
        yield f"{field}.format = {'JSON' if value is _LABELS else 'String'}"


def _text_layout(app: str) -> Iterator[str]:
    labels = "%notEmpty{%X{processor} }%notEmpty{[%X{task_name}] }"
    yield from _pattern_layout(f"%d{{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}}{{UTC}} %p {app} {labels}%c{{1}}: %m%n%ex")


def _pattern_layout(pattern: str) -> Iterator[str]:
    yield f"{_LAYOUT}.type = PatternLayout"
    yield f"{_LAYOUT}.pattern = {pattern}"


def main(file: str) -> None:
    """Write the configuration of an executor, by its environment, before its JVM starts."""
    settings = LogSettings.of_environment(os.environ)
    app = os.environ.get("STREAMAPP_APPLICATION_ID", "")
    Path(file).write_text(log4j_configuration(settings, app, ProcessRole.EXECUTOR), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
