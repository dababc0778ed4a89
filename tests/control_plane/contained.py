"""`streamapp drive` as a pod's container has it, but for the folder that the account is mounted into."""

import sys
from pathlib import Path

from streamapp_runtime.carriers import api_server
from streamapp_runtime.cli.drive import drive

if __name__ == "__main__":
    api_server.ACCOUNT = Path(sys.argv[1])  # type: ignore[misc]
    drive.main(sys.argv[2:])
