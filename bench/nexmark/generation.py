"""Nexmark events made: million for each CPU second, as Arrow tables and as encoded records."""

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

from bench.nexmark.event_records import BLOCK, Encoding, encoded
from bench.nexmark.events import events
from bench.row import Aim, Row

EVENTS = 1_000_000
AVRO_EVENTS = EVENTS // 10


def rows() -> Iterator[Row]:
    """Tables, which is what a generator must not make anybody wait for, then JSON and Avro."""
    began = process_time()
    events(0, BLOCK)
    yield Row("the pools of texts, once", process_time() - began, "CPU s")
    yield Row("tables", _rate(EVENTS, events), "M events/s", Aim(least=1))
    yield Row("records of JSON", _rate(EVENTS, partial(_encoded, encoding="json")), "M events/s")
    yield Row("records of Avro", _rate(AVRO_EVENTS, partial(_encoded, encoding="avro")), "M events/s")


def _encoded(first: int, end: int, encoding: Encoding) -> None:
    for stream, made in events(first, end).items():
        encoded(stream, made, encoding)


def _rate(count: int, make: Callable[[int, int], object]) -> float:
    began = process_time()
    for first in range(0, count, BLOCK):
        make(first, first + BLOCK)
    return count / (process_time() - began) / 1e6
