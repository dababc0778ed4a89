"""The one local session that all tests of a process share, opened when the first expression needs it."""

import atexit
import logging
from typing import Final

from pyspark.sql import SparkSession

from streamapp_runtime.driver.spark.jvm import end_jvm
from streamapp_runtime.driver.spark.spark_session import close_session, is_alive, open_session
from streamapp_runtime.expressions.spark_source import DeferredSession

_open: Final[list[DeferredSession]] = []
"""At most one."""
QUERY_ERRORS: Final = "SQLQueryContextLogger"


def shared_session() -> SparkSession:
    """The session; the first call takes the seconds that Spark takes to start."""
    active = SparkSession.getActiveSession()
    if active is not None and is_alive(active.sparkContext):
        return active  # of whoever runs the tests: a process has one Spark
    if not _open or not is_alive(_open[0].context):
        _open[:] = [open_session("streamapp-testing", 1)]
        atexit.register(close_shared_session)
        logging.getLogger(QUERY_ERRORS).setLevel(logging.CRITICAL)  # they are the app's, and told by the app
    return _open[0].open()


def end_shared_spark() -> None:
    """End the session that was opened here, with its JVM."""
    if _open:
        close_shared_session()
        end_jvm()


def close_shared_session() -> None:
    """End the session that was opened here; the next call opens another."""
    while _open:
        session = _open.pop()
        if is_alive(session.context):  # whoever runs the tests may have ended it
            close_session(session)
