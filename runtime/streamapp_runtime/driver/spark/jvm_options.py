"""Options of Spark's JVMs besides Spark's own: when Java compiles for speed, how garbage is collected.

Most of what an app runs there is called once a batch. Java's second compiler is made for what is called
millions of times; left to itself it takes up nearly all of Spark, and costs more than the batches. Its
collector for large heaps keeps more memory than a small heap needs.

Options of `extraJavaOptions` come after these, and win; a JVM takes no second collector.
"""

import os
import re
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

_LATE_COMPILATION: Final = " ".join(f"-XX:Tier4{name}={usual * _LATER}" for name, usual in _USUAL.items())
_NO_SAMPLES: Final = "-XX:-UsePerfData"
"""Java takes 20 samples a second for `jstat`: a third of what an idle JVM of Spark's does."""
COMMON_OPTIONS: Final = f"{_LATE_COMPILATION} {_NO_SAMPLES}"
SMALL_HEAP: Final = 2048
"""In MiB. Java itself takes the collector for large heaps by the memory of the machine, from 1,792 MiB on."""
SMALL_HEAP_OPTIONS: Final = "-Xms64m -XX:+UseSerialGC"
"""Left to itself a heap begins with a share of the machine's memory, and a third of that is filled before
garbage is collected for the first time."""
QUICK_OPTIONS: Final = f"-XX:TieredStopAtLevel=1 {_NO_SAMPLES} {SMALL_HEAP_OPTIONS}"
"""Of a JVM that lives for minutes: only Java's quick compiler is at work."""
_COLLECTOR: Final = re.compile(r"-XX:[+-]Use\w*GC\b")
_JAVA_VARIABLES: Final = "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"
_MEMORY: Final = re.compile(r"(\d+)([mg])b?")
_UNITS: Final = {"m": 1, "g": 1024}
USUAL_MEMORY: Final = "1g"
"""What Spark gives a JVM whose memory is not set."""


def jvm_options(settings: Mapping[str, str], role: str) -> str:
    """The options of a `driver` or of an `executor`, with these settings of Spark's and this environment."""
    own_options = (settings.get(f"spark.{role}.{kind}JavaOptions", "") for kind in ("default", "extra"))
    variables = (os.environ.get(name, "") for name in _JAVA_VARIABLES)
    names_collector = any(map(_COLLECTOR.search, (*own_options, *variables)))
    if names_collector or not _is_small(settings.get(f"spark.{role}.memory", USUAL_MEMORY)):
        return COMMON_OPTIONS
    return f"{COMMON_OPTIONS} {SMALL_HEAP_OPTIONS}"


def mebibytes(memory: str) -> int:
    """The mebibytes of a size such as `1g`; ValueError for a form that only Spark knows."""
    match = _MEMORY.fullmatch(memory.lower())
    if match is None:
        raise ValueError(f"{memory} is no size in m or g")
    return int(match[1]) * _UNITS[match[2]]


def _is_small(memory: str) -> bool:
    try:
        return mebibytes(memory) < SMALL_HEAP
    except ValueError:
        return False
