"""A Spark job in a thread of its own, which is given up where it is not over in time."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException


class BackgroundJob:
    """One job. Where an executor is lost it has no result, and nothing is said of it."""

    def __init__(self, context: SparkContext, group: str, text: str, run: Callable[[], object]) -> None:
        """Begin the job; `group` and `text` are what Spark calls it by."""
        self._context, self._group = context, group

        def run_in_group() -> None:
            context.setJobGroup(group, text)
            with suppress(PySparkException, Py4JError, OSError):
                run()

        self._thread = Thread(target=run_in_group, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True if the job has ended."""
        return not self._thread.is_alive()

    def wait(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Wait for the end of the job, and give it up where that has not come, or `until` says so."""
        deadline = time.monotonic() + seconds
        while not self.is_over and not until() and time.monotonic() < deadline:
            self._thread.join(0.05)
        self.give_up()

    def give_up(self) -> None:
        """Have Spark cancel the job, if it is not over."""
        if not self.is_over:
            self._context.cancelJobGroup(self._group)
