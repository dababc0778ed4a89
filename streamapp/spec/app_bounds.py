"""The bounds on the size of one app, which planner, stored forms, commands and operator share."""

from typing import Final

MOST_PARTITIONS: Final = 250_000
"""Of all streams of an app together. Kafka's guide takes a whole cluster to 200,000 with ZooKeeper, and apps
of one hundred thousand tasks are tried. A plan of this size takes some seconds and less than 200 MB."""
MOST_PROCESSORS: Final = 10_000
MOST_REVISIONS: Final = 100
"""Of the specs that an app ran with before. Each is an object of its own, as large as the resource."""
