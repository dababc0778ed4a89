"""The tables of all conditions, in the order of the status."""

from typing import Final

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.status.conditions.condition_table import (
    ConditionRow,
    ConditionTable,
    always,
)
from streamapp_operator.reconciler.status.conditions.driver_conditions import LAUNCHED, PROGRESSING, READY
from streamapp_operator.reconciler.status.conditions.health_conditions import DEGRADED, STALLED
from streamapp_operator.reconciler.status.conditions.planning_conditions import ACCEPTED, PLANNED


def _has_pods(findings: Findings) -> bool:
    return findings.driver.pod is not None or bool(findings.facts.pods.executors)


SUSPENDED: Final = ConditionTable(
    ConditionType.SUSPENDED,
    (
        ConditionRow(
            lambda findings: not findings.suspended,
            "False",
            ConditionReason.NOT_SUSPENDED,
            "spec.suspend is not set",
        ),
        ConditionRow(_has_pods, "False", ConditionReason.ENDING, "the running batch is being ended"),
        ConditionRow(always, "True", ConditionReason.SUSPENDED, "state and places are kept"),
    ),
)
"""True if the app is suspended by `spec.suspend`."""


def _changed_text(findings: Findings) -> str:
    pod, changed = findings.driver.pod, findings.changed_configuration
    if pod is None or not changed:
        return ""
    return f"{', '.join(changed)}: changed since {pod.name} was started; a restart takes that up"


CONFIGURATION_OUTDATED: Final = ConditionTable(
    ConditionType.CONFIGURATION_OUTDATED,
    (
        ConditionRow(_changed_text, "True", ConditionReason.CONFIGURATION_CHANGED, _changed_text),
        ConditionRow(
            always,
            "False",
            ConditionReason.UP_TO_DATE,
            "no Secret or ConfigMap is known to have changed since the driver was started",
        ),
    ),
)
"""True if Secrets or ConfigMaps changed since the driver began."""

RECONCILIATION_PAUSED: Final = ConditionTable(
    ConditionType.RECONCILIATION_PAUSED,
    (ConditionRow(always, "False", ConditionReason.NOT_PAUSED, "the operator manages the app"),),
)
"""Not true where anything is decided: nothing is decided of a paused app."""

CONDITIONS: Final = (
    ACCEPTED,
    PLANNED,
    LAUNCHED,
    READY,
    PROGRESSING,
    DEGRADED,
    STALLED,
    SUSPENDED,
    CONFIGURATION_OUTDATED,
    RECONCILIATION_PAUSED,
)
