"""What all tests have: brokers, settings of Spark, and how random tests run.

Those never run by the clock, and in the checks before a landing always the same cases.
"""

import os
from pathlib import Path

from hypothesis import settings

from tests.kafka.fixtures import broker, kafka, kafka_jars

__all__ = ["broker", "kafka", "kafka_jars"]

os.environ.setdefault("SPARK_CONF_DIR", str(Path(__file__).with_name("engine") / "spark"))

settings.register_profile("here", deadline=None)
settings.register_profile("landing", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("landing" if os.environ.get("CI") == "true" else "here")
