"""Where messages are found: keys of ConfigMaps and names of files, which are the same."""

from typing import Final

ACCEPTED: Final = "accepted.json"
WANTED: Final = "wanted.json"
REPORT: Final = "report.json"
TERMINATION: Final = "/dev/termination-log"
"""Where Kubernetes looks for a container's last word."""
