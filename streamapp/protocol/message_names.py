"""The names and ports of messages: a name is both a key of a ConfigMap and the name of a file."""

from typing import Final

ACCEPTED: Final = "accepted.json"
DRIVER_SHAPE: Final = "driver.json"
DRIVER_CONTAINER: Final = "driver"
"""The file with the shape of a driver's pod, and the container in it that StreamApp runs in."""
CANDIDATE: Final = "candidate.json"
"""A generation that the running driver is asked about before it is accepted."""
WANTED: Final = "wanted.json"
REPORT: Final = "report.json"
TERMINATION: Final = "/dev/termination-log"
"""Where Kubernetes looks for a container's last word."""
LIVENESS_PATH: Final = "/?livez"
"""Where a driver says, at the port of its metrics, whether it makes progress.

A runtime that serves nothing but metrics answers with those, and counts as alive.
"""
READINESS_PATH: Final = "/?readyz"
"""Where a driver says that it makes progress, and has warmed up where it is a standby."""
STANDBY: Final = "--standby"
"""The option of a driver that waits until it is to take over. A runtime without it ends at once."""
EARLY_EXECUTORS: Final = "--early-executors"
"""The option of a standby driver that has its executors start before it takes over."""
INCARNATION: Final = "streamapp.dev/incarnation"
"""The number of a driver: a label of its pod, and an annotation of the job model that is published for it."""
NEW_SNAPSHOT: Final = "new"
"""What a driver is asked for the first page of a snapshot with; its answer has the name for the others."""
PAGE_PORT: Final = 9405
"""Where a driver's pod has the page of its app, on loopback: only forwarding of ports reaches it."""
LANES_PORT: Final = "spark.streamapp.lanes.port"
"""The setting of Spark that names the port at which a driver gives its lanes their orders."""
STATE_ACCESS_VARIABLE: Final = "STREAMAPP_STATE_TOKEN"
"""The variable of a driver's container with the token for queries of its state, which the app sets."""
