"""A log in which other drivers start at the worst moment."""

from pathlib import Path

from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.ownership import NOBODY, Ownership
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

STREAM = "app.checkpoint"


class OvertakenLog(EmbeddedSystem):
    """A log in which another driver starts between a look at it and what follows."""

    def __init__(self, path: Path, rivals: int, claim: Ownership = NOBODY) -> None:
        super().__init__(path)
        self.rivals, self.claim = rivals, claim

    def begin(self, *args, **options):  # type: ignore[no-untyped-def]
        if self.rivals:
            self.rivals -= 1
            rival = EmbeddedSystem(self._environment.path)
            CheckpointStream(rival, STREAM).open("rival", self.claim)
            rival.close()
        return super().begin(*args, **options)
