"""Connections of other processes that are reset, as a network does in the middle of something."""

import shutil
import subprocess

_SS = shutil.which("ss")


def reset_connections(port: int) -> int:
    """Reset all TCP connections to a port of this machine; how many were. 0 where the system cannot do it."""
    if _SS is None:
        return 0
    command = [_SS, "--tcp", "--no-header", "--kill", "state", "established", "dport", "=", f":{port}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return len(done.stdout.splitlines())
