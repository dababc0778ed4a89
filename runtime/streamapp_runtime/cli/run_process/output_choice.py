"""How a run is heard: on a terminal, as lines, as JSON, or not at all."""

import sys
from collections.abc import Callable
from functools import partial

from streamapp_runtime.cli.run_process.message_output import REWRITE_SECONDS, TerminalOutput, write_json
from streamapp_runtime.driver.reporting.progress_log import LATER, SOON
from streamapp_runtime.driver.reporting.run_messages import RunMessage


def message_output(quiet: bool, log_format: str) -> tuple[Callable[[RunMessage], None], tuple[float, float]]:
    """What says words, and how many seconds lie between two, at first and later."""
    periods = (SOON, LATER)
    if quiet:
        return (lambda _: None), periods
    if log_format == "json":
        return partial(write_json, sys.stderr), periods
    return TerminalOutput(sys.stderr).say, (
        REWRITE_SECONDS,
        REWRITE_SECONDS,
    ) if sys.stderr.isatty() else periods
