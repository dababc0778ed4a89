"""The conditions `Launched`, `Ready` and `Progressing`: of the driver, and of what is done to it."""

from typing import Final

from streamapp.protocol.driver_report import DriverState
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import (
    DelayStart,
    HoldStart,
    KeepDriver,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.status.conditions.condition_table import (
    ConditionRow,
    ConditionTable,
    always,
)
from streamapp_operator.reconciler.status.conditions.driver_texts import (
    ending_text,
    held_reason,
    held_text,
    is_ending,
    last_ending_text,
    no_driver_reason,
    running_generation,
    takes_action,
)
from streamapp_operator.reconciler.status.conditions.executor_texts import (
    all_tasks_wait,
    awaited_executors,
    executor_problem,
    work_text,
)


def _pod_life(findings: Findings) -> PodLifecycle | None:
    return findings.driver.pod.life if findings.driver.pod is not None else None


def _pod_text(findings: Findings) -> str:
    return f"driver {findings.driver.pod.name}" if findings.driver.pod is not None else ""


def _is_left_alone(findings: Findings) -> bool:
    """True if there is a driver, and it is not asked to end."""
    life = _pod_life(findings)
    is_leaving = life is PodLifecycle.LEAVING or isinstance(findings.action, StopDriver)
    return life is not None and not is_leaving


def _start_text(findings: Findings) -> str:
    action = findings.action
    return f"driver {action.incarnation} is being made" if isinstance(action, StartDriver) else ""


LAUNCHED: Final = ConditionTable(
    ConditionType.LAUNCHED,
    (
        ConditionRow(_start_text, "True", ConditionReason.LAUNCHED, _start_text),
        ConditionRow(takes_action(DelayStart), "False", ConditionReason.BACKING_OFF, last_ending_text),
        ConditionRow(takes_action(HoldStart), "False", held_reason, held_text),
        ConditionRow(_is_left_alone, "True", ConditionReason.LAUNCHED, _pod_text),
        ConditionRow(is_ending, "False", ConditionReason.ENDING, ending_text),
        ConditionRow(always, "False", no_driver_reason, last_ending_text),
    ),
    running_generation,
)
"""True if there is a driver for the generation that is to run."""


def _absence_reason(findings: Findings) -> str:
    starts = isinstance(findings.action, StartDriver)
    return ConditionReason.LAUNCHED if starts else no_driver_reason(findings)


def _arrival_text(findings: Findings) -> str:
    pod = findings.driver.pod
    return (pod.trouble if pod is not None else "") or f"{_pod_text(findings)} is being started"


def _has_made_no_batch(findings: Findings) -> bool:
    report = findings.report
    return report is None or report.state in {DriverState.STARTING, DriverState.WAITING}


def _restoring_text(findings: Findings) -> str:
    report = findings.report
    if report is None or report.state is not DriverState.RESTORING:
        return ""
    return f"{report.progress.restoring} tasks bring back their state"


READY: Final = ConditionTable(
    ConditionType.READY,
    (
        ConditionRow(
            lambda findings: findings.no_progress,
            "Unknown",
            ConditionReason.NO_PROGRESS,
            lambda findings: findings.no_progress,
        ),
        ConditionRow(
            all_tasks_wait,
            "False",
            ConditionReason.EXECUTORS_MISSING,
            lambda findings: executor_problem(findings) or work_text(findings),
        ),
        ConditionRow(lambda findings: findings.processing, "True", ConditionReason.RUNNING, work_text),
        ConditionRow(
            lambda findings: findings.driver.pod is None, "False", _absence_reason, "there is no driver"
        ),
        ConditionRow(
            lambda findings: not _is_left_alone(findings),
            "False",
            ConditionReason.ENDING,
            lambda findings: f"{_pod_text(findings)} is ending",
        ),
        ConditionRow(
            lambda findings: _pod_life(findings) is PodLifecycle.COMING,
            "False",
            ConditionReason.DRIVER_PENDING,
            _arrival_text,
        ),
        ConditionRow(awaited_executors, "False", ConditionReason.EXECUTORS_MISSING, awaited_executors),
        ConditionRow(
            _has_made_no_batch,
            "False",
            ConditionReason.DRIVER_STARTING,
            "the driver has not got to its first batch",
        ),
        ConditionRow(
            lambda findings: findings.ended,
            "False",
            ConditionReason.ENDING,
            "all is done, and the driver ends",
        ),
        ConditionRow(_restoring_text, "False", ConditionReason.RESTORING, _restoring_text),
        ConditionRow(always, "False", ConditionReason.MODEL_CHANGED, "the driver applies another job model"),
    ),
    running_generation,
)
"""True if the app processes its streams; about the generation that runs."""


def _restart_reason(findings: Findings) -> str:
    return findings.driver.restart[0]


def _restart_text(findings: Findings) -> str:
    driver = findings.driver
    reason, *causes = driver.restart
    text = f"restarting: {'; '.join(causes) or reason}"
    if isinstance(findings.action, KeepDriver):
        next_driver = object_names.driver(findings.facts.app.name, driver.successor.incarnation)
        text += f"\n{next_driver} starts next to {findings.action.pod.name}, and then takes over"
        if driver.successor.obstacle is not None and not driver.successor.obstacle.is_slow:
            text += f"\n{driver.successor.obstacle.message}"
    return text


def _awaits_growth(findings: Findings) -> bool:
    has_update = findings.model is not None and not isinstance(findings.model, Refusal)
    return has_update and findings.driver.seconds_to_wait is not None


def _growth_text(findings: Findings) -> str:
    model = findings.model
    return "" if model is None or isinstance(model, Refusal) else "; ".join(model.grown)


def _applies_model(findings: Findings) -> bool:
    is_kept, report = isinstance(findings.action, KeepDriver), findings.report
    return is_kept and report is not None and report.model_version not in {0, findings.wanted_version}


def _applies_generation(findings: Findings) -> bool:
    return isinstance(findings.action, KeepDriver) and findings.runs_earlier_generation


def _generation_text(findings: Findings) -> str:
    return f"the driver applies generation {findings.target.generation if findings.target else ''}"


def _comes_up(findings: Findings) -> bool:
    return isinstance(findings.action, KeepDriver) and not findings.running


PROGRESSING: Final = ConditionTable(
    ConditionType.PROGRESSING,
    (
        ConditionRow(lambda findings: bool(findings.driver.restart), "True", _restart_reason, _restart_text),
        ConditionRow(_awaits_growth, "True", ConditionReason.PARTITIONS_GREW, _growth_text),
        ConditionRow(
            takes_action(StartDriver), "True", ConditionReason.LAUNCHED, "the driver is being started"
        ),
        ConditionRow(is_ending, "True", ConditionReason.ENDING, ending_text),
        ConditionRow(
            _applies_model,
            "True",
            ConditionReason.MODEL_CHANGED,
            lambda findings: f"the driver applies job model {findings.wanted_version}",
        ),
        ConditionRow(_applies_generation, "True", ConditionReason.SPEC_CHANGED, _generation_text),
        ConditionRow(
            _comes_up,
            "True",
            lambda findings: READY.condition(findings).reason,
            lambda findings: READY.condition(findings).message,
        ),
        ConditionRow(always, "False", ConditionReason.STABLE, "nothing is under way"),
    ),
)
"""True if the operator is bringing the app from one form to another."""
