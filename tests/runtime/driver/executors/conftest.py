"""A certificate of an encrypted run, made once for the tests of this folder."""

import pytest

from streamapp_runtime.driver.executors.lane_certificate import LaneCertificate, make_certificate
from streamapp_runtime.expressions.spark_source import DeferredSession


@pytest.fixture(scope="session")
def lane_certificate(session: DeferredSession) -> LaneCertificate:
    return make_certificate(session.context)
