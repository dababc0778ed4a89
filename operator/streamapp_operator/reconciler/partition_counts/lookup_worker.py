"""The process that asks clusters: one at a time, by a client of its own, within bounds of memory and threads.

A client does what a cluster's answers make it do: it has a thread for each broker that they name, and keeps
what they hold. After a look-up that was not answered well the process ends, with whatever its client does.
"""

import json
import os
import resource
import sys
from dataclasses import asdict

from streamapp_operator.reconciler.partition_counts.kafka_admin import (
    KafkaTopicAdmin,
    KafkaUnavailableError,
    LookupExceededError,
)
from streamapp_operator.reconciler.partition_counts.lookup_messages import (
    MEMORY_BYTES,
    STACK_BYTES,
    LookupAnswer,
    LookupRequest,
)
from streamapp_operator.reconciler.worker_messages import answer_and_end, serve


def look_up(request: LookupRequest) -> LookupAnswer:
    """The answer of a cluster, or why there is none."""
    client = KafkaTopicAdmin(request["bootstrap_servers"], request["settings"], request["seconds"])
    try:
        return LookupAnswer(client.partitions(request["topics"]))
    except KafkaUnavailableError as error:
        return LookupAnswer(unavailable=str(error))
    except LookupExceededError as error:
        return LookupAnswer(ended=str(error))
    except MemoryError:
        return LookupAnswer(ended=f"it took more than {MEMORY_BYTES >> 20} MiB of memory")


def _answer(payload: bytes) -> bytes:
    answer = look_up(json.loads(payload))
    encoded_answer = json.dumps(asdict(answer)).encode()
    if answer.unavailable or answer.ended:
        answer_and_end(encoded_answer)
    return encoded_answer


def main() -> None:
    """Answer requests until the input ends, with threads of small stacks, which libc has from the start."""
    soft_limit, hard_limit = resource.getrlimit(resource.RLIMIT_STACK)
    if soft_limit != STACK_BYTES:
        resource.setrlimit(resource.RLIMIT_STACK, (STACK_BYTES, hard_limit))
        os.execv(sys.executable, [sys.executable, "-m", f"{__package__}.lookup_worker"])  # noqa: S606
    serve(_answer, MEMORY_BYTES)


if __name__ == "__main__":
    main()
