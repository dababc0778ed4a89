"""The steps of the last start of an app's driver, from its pods and its report, as text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.protocol.driver_report import Report
from streamapp.protocol.start_steps import StartStep
from streamapp_operator.reconciler.facts.pod_state import PodState

_CREATED: Final = "pod created"
_STEPS: Final = {
    StartStep.PROCESS: "process started",
    StartStep.SPARK: "Spark session started",
    StartStep.STANDBY: "ready to take over",
    StartStep.TAKE_OVER: "previous driver ended, this one took over",
    StartStep.LAUNCH: "app compiled",
    StartStep.BATCH: "first batch committed",
}


@dataclass(frozen=True, slots=True)
class TimedStep:
    """A step, and its time in seconds since 1970."""

    at: float
    text: str


def last_start(
    driver: PodState, executors: Iterable[PodState], report: Report | None
) -> tuple[TimedStep, ...]:
    """The steps in their order, from the creation of the driver's pod on.

    Kubernetes writes whole seconds, and its clock may differ from that of the driver's node.
    """
    reported_times = report.start if report is not None and report.driver == driver.name else {}
    own_executors = [pod for pod in executors if pod.owner_pod in {"", driver.uid}]
    steps = [
        *_pod_steps(driver),
        *_executor_steps(own_executors),
        *(TimedStep(at, _STEPS[StartStep(name)]) for name, at in reported_times.items() if name in _STEPS),
    ]
    return tuple(sorted(steps, key=lambda step: step.at))


def _pod_steps(driver: PodState) -> Iterator[TimedStep]:
    yield TimedStep(driver.made_at, _CREATED)
    if driver.scheduled_at is not None:
        yield TimedStep(driver.scheduled_at, f"pod scheduled to {driver.node}")
    if driver.started_at is not None:
        yield TimedStep(driver.started_at, "container started")


def _executor_steps(executors: Sequence[PodState]) -> Iterator[TimedStep]:
    started = [pod.started_at for pod in executors if pod.started_at is not None]
    if started:
        yield TimedStep(max(started), f"executors started: {len(started)} of {len(executors)}")


def last_start_text(steps: Sequence[TimedStep]) -> Iterator[str]:
    """The lines of the steps, each with the seconds since the first one."""
    texts = {step.text: step.at for step in steps}
    begin = texts[_CREATED]
    batch, take_over = texts.get(_STEPS[StartStep.BATCH]), texts.get(_STEPS[StartStep.TAKE_OVER])
    if batch is None:
        yield "  last start   no batch yet"
    else:
        after = f", {batch - take_over:.1f} s after it took over" if take_over is not None else ""
        yield f"  last start   first batch {batch - begin:.1f} s after the pod was created{after}"
    yield from (f"               {step.at - begin:7.1f} s  {step.text}" for step in steps)
