"""How one phase mostly follows another: the arrows of the picture, each of which a test takes."""

from dataclasses import dataclass

from streamapp_operator.status.phase import Phase


@dataclass(frozen=True, slots=True)
class Way:
    """One phase after another, and what leads there."""

    before: Phase
    after: Phase
    when: str


WAYS = (
    Way(Phase.PENDING, Phase.LAUNCHING, "counts known"),
    Way(Phase.PENDING, Phase.REJECTED, "no sound plan"),
    Way(Phase.REJECTED, Phase.LAUNCHING, "put right"),
    Way(Phase.LAUNCHING, Phase.RUNNING, "first batch"),
    Way(Phase.RUNNING, Phase.RESTARTING, "edit, growth"),
    Way(Phase.RESTARTING, Phase.LAUNCHING, "all gone"),
    Way(Phase.RUNNING, Phase.BACKING_OFF, "it failed"),
    Way(Phase.BACKING_OFF, Phase.LAUNCHING, "after a wait"),
    Way(Phase.RUNNING, Phase.FAILED, "too often"),
    Way(Phase.RUNNING, Phase.COMPLETED, "all is done"),
    Way(Phase.RUNNING, Phase.SUSPENDING, "suspend"),
    Way(Phase.SUSPENDING, Phase.SUSPENDED, "all gone"),
    Way(Phase.SUSPENDED, Phase.LAUNCHING, "go on"),
)
