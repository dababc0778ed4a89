"""Keys go where Java's own producer puts them, whoever places them: the engine, or librdkafka."""

import base64
import random
import shutil
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from streamapp_runtime.key_partitioning import partition_of
from tests.harness.kafka.topic_records import create

PARTITIONS = 13
PROGRAM = Path(__file__).with_name("JavaPartitions.java")


@pytest.fixture(scope="module")
def keys() -> list[bytes]:
    chance = random.Random(7)  # noqa: S311
    return [chance.randbytes(chance.randrange(0, 60)) for _ in range(3_000)]


@pytest.fixture(scope="module")
def java(kafka_jars: Path, keys: list[bytes]) -> list[int]:
    if shutil.which("javac") is None:
        pytest.skip("no Java compiler on this machine")
    lines = "".join(base64.b64encode(key).decode() + "\n" for key in keys)
    command = ["java", "-cp", f"{kafka_jars}/*", PROGRAM, str(PARTITIONS)]
    run = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [int(line) for line in run.stdout.split()]


@pytest.mark.usefixtures("process")
def test_the_engine_places_keys_as_java_does(keys: list[bytes], java: list[int]) -> None:
    assert partition_of(pa.array(keys, pa.binary()), PARTITIONS).tolist() == java


def test_librdkafka_places_keys_as_java_does_with_the_partitioner_that_is_set(
    kafka: str, keys: list[bytes], java: list[int]
) -> None:
    found = _placed_by_librdkafka(kafka, "where", keys, {"partitioner": "murmur2_random"})
    assert found == {key: place for key, place in zip(keys, java, strict=True) if key}


def test_the_engine_places_keys_as_librdkafka_does_by_default(kafka: str, keys: list[bytes]) -> None:
    places = partition_of(pa.array(keys, pa.binary()), PARTITIONS, partitioner="crc32").tolist()
    found = _placed_by_librdkafka(kafka, "where-by-default", keys, {})
    assert found == {key: place for key, place in zip(keys, places, strict=True) if key}


def _placed_by_librdkafka(
    kafka: str, topic: str, keys: list[bytes], settings: dict[str, str]
) -> dict[bytes, int]:
    """The partition of each key but an empty one, which it takes for none and places at random."""
    create(kafka, {topic: PARTITIONS})
    found: dict[bytes, int] = {}
    producer = Producer({"bootstrap.servers": kafka, "log_level": 0, **settings})
    for key in filter(None, keys):
        producer.produce(
            topic, b"", key, on_delivery=lambda _, message: found.update({message.key(): message.partition()})
        )
    producer.flush(60)
    return found
