"""The request, the answer and the bounds of a look-up. A worker imports this module before anything else."""

from dataclasses import dataclass, field
from typing import Final, TypedDict

MEMORY_BYTES: Final = 128 * 2**20
"""Of a look-up's process. It takes 20 MiB by itself; the operator's pod has room for three such processes."""
MOST_THREADS: Final = 256
"""Of a look-up's process: a client has one for each broker that its cluster names."""
STACK_BYTES: Final = 256 * 2**10
"""Of each thread, which counts as memory: no more than 450 threads fit."""
MOST_CLUSTER_BYTES: Final = 8 * 2**20
"""Of one answer of a cluster: one about 100,000 partitions takes five."""
MOST_ANSWER_BYTES: Final = 4 * 2**20
"""Of what a worker says."""
ANSWER_SECONDS: Final = 10.0
"""For a cluster to answer."""


class LookupRequest(TypedDict):
    """The topics to count the partitions of, and how to reach their cluster."""

    bootstrap_servers: str
    settings: dict[str, str]
    topics: list[str]
    seconds: float


@dataclass(frozen=True, slots=True)
class LookupAnswer:
    """The count of each topic, None for one that does not exist; or why there is none."""

    counts: dict[str, int | None] = field(default_factory=dict)
    unavailable: str = ""  # the cluster does not answer, or refuses
    ended: str = ""  # it took more than a look-up may
