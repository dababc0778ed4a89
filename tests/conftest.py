"""What all tests have: brokers, and how random tests run.

Those never run by the clock, and in the checks before a landing always the same cases.
"""

import os

from hypothesis import settings

from tests.kafka.fixtures import broker, kafka, kafka_jars

__all__ = ["broker", "kafka", "kafka_jars"]

settings.register_profile("here", deadline=None)
settings.register_profile("landing", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("landing" if os.environ.get("CI") == "true" else "here")
