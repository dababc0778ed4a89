"""A driver that is started with a raised `resetNonce`, and killed by a crash point."""

import sys

from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

if __name__ == "__main__":
    folder, stream, nonce = sys.argv[1:]
    CheckpointStream(EmbeddedSystem(folder), stream).open("killed", reset=StateReset(int(nonce)))
