"""When Java compiles for speed in Spark's JVMs: only what is called very often.

Most of what an app runs there is called once a batch. Java's second compiler is made for what is called
millions of times; left to itself it takes up nearly all of Spark, and costs more than the batches themselves.
"""

from collections.abc import Mapping
from typing import Final

_LATER: Final = 20
"""Times as many calls as Java itself would wait for."""
_USUAL: Final[Mapping[str, int]] = {
    "InvocationThreshold": 5_000,
    "MinInvocationThreshold": 600,
    "CompileThreshold": 15_000,
    "BackEdgeThreshold": 40_000,
}

LATE_COMPILATION: Final = " ".join(f"-XX:Tier4{name}={usual * _LATER}" for name, usual in _USUAL.items())
"""Options of a JVM; those of `extraJavaOptions` come after them, and win."""
