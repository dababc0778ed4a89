"""A certificate of an encrypted run, made once for the tests of this folder."""

import pytest
from pyspark.sql import SparkSession

from streamapp_runtime.driver.executors.lane_certificate import LaneCertificate, make_certificate


@pytest.fixture(scope="session")
def lane_certificate(session: SparkSession) -> LaneCertificate:
    return make_certificate(session)
