"""A certificate of an encrypted run, made once for the tests of this folder."""

import pytest
from pyspark import SparkContext

from streamapp_runtime.driver.executors.lane_certificate import LaneCertificate, make_certificate


@pytest.fixture(scope="session")
def lane_certificate(session: SparkContext) -> LaneCertificate:
    return make_certificate(session)
