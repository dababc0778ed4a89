"""What all tests have: brokers, an API server, settings of Spark, and how random tests run.

Those never run by the clock, and in the checks before a landing always the same cases.
"""

import os
from pathlib import Path

from hypothesis import settings

from tests.harness.api_server.api_server_fixtures import api_server, namespace, pytest_runtest_makereport
from tests.harness.kafka.broker_fixtures import broker, kafka, kafka_jars, two_brokers
from tests.harness.machine.browser_fixtures import browser
from tests.harness.machine.left_out import must_run

__all__ = [
    "api_server",
    "broker",
    "browser",
    "kafka",
    "kafka_jars",
    "namespace",
    "pytest_runtest_makereport",
    "two_brokers",
]

os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).with_name("harness") / "spark"))

settings.register_profile("here", deadline=None)
settings.register_profile("landing", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("landing" if must_run() else "here")
