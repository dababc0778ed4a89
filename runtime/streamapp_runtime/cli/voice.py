"""How a run is heard: on a terminal, as lines, as JSON, or not at all."""

import sys
from collections.abc import Callable
from functools import partial

from streamapp_runtime.cli.terminal import REWRITTEN, Terminal, say_json
from streamapp_runtime.driver.reporting.progress_log import LATER, SOON
from streamapp_runtime.driver.reporting.run_messages import RunMessage


def voice(quiet: bool, log_format: str) -> tuple[Callable[[RunMessage], None], tuple[float, float]]:
    """What says words, and how many seconds lie between two, at first and later."""
    periods = (SOON, LATER)
    if quiet:
        return (lambda _: None), periods
    if log_format == "json":
        return partial(say_json, sys.stderr), periods
    return Terminal(sys.stderr).say, (REWRITTEN, REWRITTEN) if sys.stderr.isatty() else periods
