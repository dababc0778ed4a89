"""The version in which each request is sent, by what a broker answers that it has."""

import struct

import numpy as np
import pytest

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests.request_fields import RequestBody, ResponseReader
from streamapp_runtime.systems.kafka.wire.requests.request_versions import (
    API_VERSIONS,
    END_EPOCH,
    FETCH,
    INIT_PRODUCER_ID,
    PRODUCE,
    BrokerRequest,
    BrokerVersions,
    ClusterFeatures,
    ask_versions,
    write_api_versions,
)
from streamapp_runtime.systems.stream_system import DeniedError
from tests.harness.core.all_cases import all_cases

UNSUPPORTED = 35
ROWS = [(0, 3, 13), (18, 0, 4), (22, 0, 5), (26, 0, 5)]
PLAIN_ROWS = struct.pack(">i", len(ROWS)) + b"".join(struct.pack(">hhh", *row) for row in ROWS)
FLEXIBLE_ROWS = bytes([len(ROWS) + 1]) + b"".join(struct.pack(">hhhb", *row, 0) for row in ROWS)


def answer(content: bytes, version: int) -> ResponseReader:
    octets = np.frombuffer(content, np.uint8)
    return ResponseReader(octets, len(octets), version, flexible=version >= API_VERSIONS.flexible_from)


def tagged(fields: dict[int, bytes]) -> bytes:
    each = [bytes([tag, len(content)]) + content for tag, content in fields.items()]
    return bytes([len(fields)]) + b"".join(each)


def features(name: bytes, level: int) -> bytes:
    return bytes([2, len(name) + 1]) + name + struct.pack(">hhb", level, 0, 0)


def test_a_broker_says_its_versions_and_its_clusters_features() -> None:
    tags = {0: b"\1", 1: struct.pack(">q", 7), 2: features(b"transaction.version", 2)}
    content = struct.pack(">h", 0) + FLEXIBLE_ROWS + struct.pack(">i", 0) + tagged(tags)
    versions = ask_versions(lambda version: answer(content, version))
    assert versions.by_key == {key: (oldest, newest) for key, oldest, newest in ROWS}
    assert versions.features == ClusterFeatures(7, {"transaction.version": 2})
    assert versions.features.has_epoch_per_transaction


@pytest.mark.parametrize(
    "tags",
    [{}, {2: features(b"transaction.version", 2)}, {1: b"\0" * 8, 2: features(b"transaction.version", 1)}],
    ids=["none", "of no epoch", "an older one"],
)
def test_without_the_feature_transactions_share_an_epoch(tags: dict[int, bytes]) -> None:
    content = struct.pack(">h", 0) + FLEXIBLE_ROWS + struct.pack(">i", 0) + tagged(tags)
    versions = ask_versions(lambda version: answer(content, version))
    assert not versions.features.has_epoch_per_transaction


def test_a_broker_that_does_not_know_the_question_is_asked_by_its_oldest_version() -> None:
    asked: list[int] = []

    def ask(version: int) -> ResponseReader:
        asked.append(version)
        if version:
            return answer(struct.pack(">hi", UNSUPPORTED, 0), version)
        return answer(struct.pack(">h", 0) + PLAIN_ROWS, version)

    assert ask_versions(ask).by_key[22] == (0, 5)
    assert asked == [3, 0]


def test_the_newest_version_that_both_sides_know_is_used() -> None:
    with all_cases() as case:
        for has, version in {(3, 13): 11, (0, 9): 9, (0, 8): 8, (0, 7): 7, (11, 20): 11}.items():
            with case(has):
                versions = BrokerVersions({PRODUCE.key: has}, ClusterFeatures())
                assert versions.newest(PRODUCE, "a:1") == version


@pytest.mark.parametrize(
    ("request_kind", "has", "message"),
    [
        (
            FETCH,
            (0, 10),
            r"^a:1 does not have Fetch in a version from 11 to 11 \(it has 0 to 10\), .* 2.3 to",
        ),
        (FETCH, (12, 20), r"^a:1 does not have Fetch in a version from 11 to 11 \(it has 12 to 20\)"),
        (END_EPOCH, (0, 4), r"^a:1 does not have EndTxn in .* of Kafka 4.0 to \d.\d do$"),
        (INIT_PRODUCER_ID, None, r"^a:1 does not have InitProducerId .* \(it has none\)"),
    ],
)
def test_a_broker_that_lacks_what_is_needed_is_refused(
    request_kind: BrokerRequest, has: tuple[int, int] | None, message: str
) -> None:
    versions = BrokerVersions({request_kind.key: has} if has else {}, ClusterFeatures())
    with pytest.raises(DeniedError, match=message):
        versions.newest(request_kind, "a:1")


def test_the_question_names_who_asks_where_that_has_a_place() -> None:
    named, plain = RequestBody(3, flexible=True), RequestBody(2)
    write_api_versions(named)
    write_api_versions(plain)
    assert (b"".join(named.parts), b"".join(plain.parts)) == (b"\x0astreamapp\x021\x00", b"")


def test_a_size_of_any_length_is_read_as_it_was_written() -> None:
    with all_cases() as case:
        for size in (0, 1, 126, 127, 128, 16_382, 16_383, 2_097_151):
            with case(size):
                body = RequestBody(9, flexible=True)
                body.octets([bytes(size)]).text("x" * size).text(None).tags()
                content = b"".join(body.parts)
                reader = ResponseReader(np.frombuffer(content, np.uint8), len(content), 9, flexible=True)
                _, begin, end = reader.octets()
                assert end - begin == size
                assert (reader.text(), reader.text(), reader.tags()) == ("x" * size, None, {})
                assert reader.at == len(content)


def test_a_size_that_does_not_end_is_malformed() -> None:
    content = np.full(20, 0xFF, np.uint8)
    with pytest.raises(MalformedError, match="longer than any may be"):
        ResponseReader(content, len(content), 9, flexible=True).text()
