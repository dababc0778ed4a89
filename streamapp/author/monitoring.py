"""The interval at which an app's streams are watched for growth, if at all, and the time for it to settle."""

from typing import Final

from streamapp.author.app_streams import is_embedded
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import FREQUENCY, MONITOR
from streamapp.spec.value_types.durations import milliseconds

EMBEDDED_SECONDS: Final = 2.0
"""The period on an embedded log: partitions are counted there at next to no cost."""


def growth_interval(app: StreamApp) -> float | None:
    """The seconds between two counts of partitions while the app runs; None for never.

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
    """The seconds in which producers may use the old count after growth; 0 on an embedded log, unless set."""
    if is_embedded(app) and "partition_settle" not in app.spec.model_fields_set:
        return 0.0
    return milliseconds(app.spec.partition_settle) / 1000
