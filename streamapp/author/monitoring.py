"""Whether and how often the streams of an app are watched for growth, and how long a growth settles."""

from typing import Final

from streamapp.author.app_streams import is_embedded
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import FREQUENCY, MONITOR
from streamapp.spec.value_types.durations import milliseconds

EMBEDDED_SECONDS: Final = 2.0
"""The period on an embedded log: partitions are counted there at next to no cost."""


def growth_interval(app: StreamApp) -> float | None:
    """How often partitions are counted while the app runs, in seconds; None for never.

    A key of `spec.config` goes before the field of `spec.monitor` that says the same.
    """
    config, monitor = app.spec.config, app.spec.monitor
    enabled = config[MONITOR] == "true" if MONITOR in config else monitor.enabled
    if not enabled:
        return None
    if FREQUENCY in config:
        return int(config[FREQUENCY]) / 1000
    if is_embedded(app) and "interval" not in monitor.model_fields_set:
        return EMBEDDED_SECONDS
    return milliseconds(monitor.interval) / 1000


def settle_seconds(app: StreamApp) -> float:
    """How long producers may use the old count after a growth; on an embedded log none do, unless told so."""
    if is_embedded(app) and "partition_settle" not in app.spec.model_fields_set:
        return 0.0
    return milliseconds(app.spec.partition_settle) / 1000
