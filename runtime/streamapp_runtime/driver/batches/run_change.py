"""Changes of a run, in its model, lanes or spec, as they are told to people and counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from streamapp.placement.placement_reason import PlacementReason
from streamapp.plan.render.wording import counted
from streamapp.protocol.driver_report import ReportedWarning
from streamapp.spec.problem import with_path
from streamapp_runtime.driver.executors.lane_assignment import LaneAssignment, Lanes, processor_by_task
from streamapp_runtime.driver.start.launch import Launch


class ChangeKind(StrEnum):
    """The kind of a difference."""

    MODEL = "model"  # another job model runs
    LANES = "lanes"  # processors are missing, or are there again
    SPEC = "spec"  # an edit was taken up that needs no restart
    REFUSED = "refused"  # something was wanted that cannot be; the app continues unchanged


@dataclass(frozen=True, slots=True)
class RunChange:
    """One difference."""

    kind: ChangeKind
    text: str
    launch: Launch  # what runs now
    lanes: Lanes  # as they are assigned now
    moved: int = 0  # tasks that have another processor than before
    warnings: tuple[ReportedWarning, ...] = ()  # all that stand
    missing: tuple[str, ...] = ()  # processors whose tasks wait for them
    reasons: Mapping[str, PlacementReason] = field(default_factory=dict)  # task -> why it is on its processor

    @property
    def version(self) -> int:
        """Of the model that runs now."""
        return self.launch.model.version


def model_switched(before: Launch, lanes_before: Lanes, after: Launch, reasons: Sequence[str]) -> RunChange:
    """That another model runs."""
    moved = _moved(lanes_before, after.lanes)
    tasks, processors = len(after.assignment.tasks), len(after.lanes)
    text = f"job model {after.model.version}: {'; '.join(reasons)}"
    text += f"; {counted(tasks, 'task')} on {counted(processors, 'processor')}"
    text += f" (were {len(before.assignment.tasks)} on {len(before.lanes)})"
    text += f", {moved or 'none'} moved"
    return RunChange(ChangeKind.MODEL, text, after, after.lanes, moved, reasons=after.reasons)


def lanes_changed(launch: Launch, lanes_before: Lanes, assignment: LaneAssignment) -> RunChange:
    """That a processor is missing, was given up, or is back."""
    moved = _moved(lanes_before, assignment.assigned)
    if assignment.given_up:
        lost_processors = ", ".join(sorted(assignment.given_up))
        text = f"without {lost_processors}: {moved or 'no'} tasks moved to other processors"
    elif assignment.missing:
        waiting = sum(len(assignment.assigned[name]) for name in assignment.missing)
        text = f"{', '.join(assignment.missing)} missing: {counted(waiting, 'task')} waiting for it"
    else:
        text = f"all processors are there, {moved or 'no'} tasks moved"
    return RunChange(
        ChangeKind.LANES,
        text,
        launch,
        assignment.assigned,
        moved,
        missing=assignment.missing,
        reasons=assignment.reasons or launch.reasons,
    )


def spec_edited(launch: Launch, lanes: Lanes, generation: int, fields: Sequence[str]) -> RunChange:
    """That another generation of the app runs, by the same model and the same driver."""
    text = f"generation {generation}: {', '.join(fields) or 'nothing that it goes by'} changed"
    return RunChange(ChangeKind.SPEC, text, launch, lanes)


def change_refused(launch: Launch, lanes: Lanes, warnings: tuple[ReportedWarning, ...]) -> RunChange:
    """That something cannot be; without warnings, that nothing is refused any more."""
    reasons = "; ".join(with_path(one.path, one.message) for one in warnings)
    text = f"the app continues unchanged: {reasons}" if warnings else "nothing is refused any more"
    return RunChange(ChangeKind.REFUSED, text, launch, lanes, warnings=warnings)


def _moved(before: Lanes, after: Lanes) -> int:
    owners: Mapping[str, str] = processor_by_task(before)
    return sum(owners.get(task, name) != name for task, name in processor_by_task(after).items())
