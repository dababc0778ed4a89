"""Rows in and out of topics, in the broker's pod: one JSON object a line, one command a call."""

import json
import sys
from collections.abc import Mapping

from topics import committed, create, produce

ADDRESS = "localhost:9092"


def _create(counts: str) -> None:
    wanted: Mapping[str, int] = json.loads(counts)
    create(ADDRESS, wanted)


def _put(topic: str, key: str) -> None:
    produce(ADDRESS, topic, map(json.loads, sys.stdin), key)


def _get(topic: str) -> None:
    sys.stdout.writelines(f"{json.dumps(row)}\n" for row in committed(ADDRESS, topic))


{"create": _create, "put": _put, "get": _get}[sys.argv[1]](*sys.argv[2:])
