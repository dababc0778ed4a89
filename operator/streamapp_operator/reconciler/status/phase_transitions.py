"""The usual transitions between phases: the arrows of the diagram, each covered by a test."""

from dataclasses import dataclass

from streamapp_operator.reconciler.status.phase import Phase


@dataclass(frozen=True, slots=True)
class PhaseTransition:
    """A transition between two phases, and its cause."""

    before: Phase
    after: Phase
    when: str


PHASE_TRANSITIONS = (
    PhaseTransition(Phase.PENDING, Phase.LAUNCHING, "counts known"),
    PhaseTransition(Phase.PENDING, Phase.REJECTED, "no sound plan"),
    PhaseTransition(Phase.REJECTED, Phase.LAUNCHING, "put right"),
    PhaseTransition(Phase.LAUNCHING, Phase.RUNNING, "first batch"),
    PhaseTransition(Phase.RUNNING, Phase.RESTARTING, "edit, growth"),
    PhaseTransition(Phase.RESTARTING, Phase.LAUNCHING, "pods ended"),
    PhaseTransition(Phase.RUNNING, Phase.BACKING_OFF, "it failed"),
    PhaseTransition(Phase.BACKING_OFF, Phase.LAUNCHING, "after a wait"),
    PhaseTransition(Phase.RUNNING, Phase.FAILED, "too often"),
    PhaseTransition(Phase.RUNNING, Phase.COMPLETED, "all is done"),
    PhaseTransition(Phase.RUNNING, Phase.SUSPENDING, "suspend"),
    PhaseTransition(Phase.SUSPENDING, Phase.SUSPENDED, "pods ended"),
    PhaseTransition(Phase.SUSPENDED, Phase.LAUNCHING, "resume"),
)
