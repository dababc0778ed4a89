"""A driver that is started with a raised `resetNonce`, and killed by a crash point."""

import sys

from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.reset import Reset
from streamapp_runtime.systems.embedded.log import EmbeddedSystem

if __name__ == "__main__":
    folder, stream, nonce = sys.argv[1:]
    Ledger(EmbeddedSystem(folder), stream).open("killed", reset=Reset(int(nonce)))
