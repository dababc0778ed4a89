"""A client that nobody owns any more ends in a thread of the app, whatever thread collects the garbage."""

import subprocess
import sys
from typing import Final

import pytest

OWNED_BY_GARBAGE: Final = """
import gc
import threading
from confluent_kafka.admin import NewTopic
from streamapp_runtime.systems.kafka.cluster_admin import ClusterAdmin

gc.disable()
collected = threading.Event()


def collect(_):
    gc.collect()
    collected.set()


clients = ClusterAdmin("127.0.0.1:1")
answer = clients.admin.create_topics([NewTopic("views", 1, 1)], request_timeout=0.1)["views"]
answer.add_done_callback(collect)  # in the client's own thread, as soon as there is an answer
del clients
assert collected.wait(10)
assert ClusterAdmin("127.0.0.1:1").admin is not None  # which ends the other
print("went on")
"""


@pytest.mark.usefixtures("process")
def test_garbage_that_is_collected_in_the_thread_of_a_client_does_not_end_the_process() -> None:
    run = subprocess.run(
        [sys.executable, "-c", OWNED_BY_GARBAGE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout) == (0, "went on\n"), run.stderr
