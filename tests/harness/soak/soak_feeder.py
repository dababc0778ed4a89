"""A process that writes the rows of a soak when they are due, as long as its input stays open."""

import select
import sys
import time

from confluent_kafka import Producer

from tests.harness.kafka.clients import QUIET
from tests.harness.soak.soak_rows import SoakRows, encoded, users

_STEP_SECONDS = 0.02
_TABLE_SECONDS = 1.0
FOREVER_MS = 2**31 - 1


def feed(address: str, rows: SoakRows) -> int:
    """How many views were written; users are written again and again, each as it was."""
    producer = Producer(
        {
            "bootstrap.servers": address,
            "partitioner": "murmur2_random",
            "enable.idempotence": True,
            "message.timeout.ms": FOREVER_MS,
            "linger.ms": 5,
            **QUIET,
        }
    )
    written, table = 0, list(users())
    while not select.select([sys.stdin], [], [], _STEP_SECONDS)[0]:
        now_ms = time.time_ns() // 1_000_000
        while rows.time_ms(written) <= now_ms:
            view = rows.view(written)
            producer.produce("views", encoded(view), view["user"].encode())
            for click in rows.clicks(written):
                producer.produce("clicks", encoded(click), click["user"].encode())
            if written % max(int(rows.rate * _TABLE_SECONDS) // 20, 1) == 0:
                user = table[written * 31 % len(table)]
                producer.produce("users", encoded(user), user["user"].encode())
            written += 1
            producer.poll(0)
    assert producer.flush(120) == 0
    return written


if __name__ == "__main__":
    print(feed(sys.argv[1], SoakRows(int(sys.argv[2]), int(sys.argv[3]))))  # noqa: T201
