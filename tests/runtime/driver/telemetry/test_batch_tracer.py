"""Spans as a receiver gets them: of batches that failed, and after an outage."""

from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest

from streamapp.author.sources import parse_file
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.telemetry.batch_tracer import HIDDEN, BatchTracer
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from tests.harness.engine.batch_results import batch
from tests.harness.machine.processes import until
from tests.harness.runs.run_process import EXAMPLE
