"""Batches of several partitions that are encoded together are those that each gives alone."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.batch_format.batch_encoder import (
    EncodedBatch,
    ProducerIdentity,
    encode_batches,
    encode_each,
    encoded_size,
)
from streamapp_runtime.systems.kafka.wire.batch_format.compression import (
    UNCOMPRESSED,
    Compression,
    CompressionCodec,
)
from tests.harness.kafka.decoded_batches import decoded, decoded_headers
from tests.harness.kafka.record_contents import Content, batch, with_headers

Headers = list[tuple[str, bytes | None]]
OCTETS = st.one_of(st.none(), st.binary(max_size=300))
CONTENT = st.tuples(OCTETS, OCTETS, st.one_of(st.none(), st.integers(0, 1 << 40)))
PARTS = st.lists(st.lists(CONTENT, min_size=1, max_size=8), min_size=1, max_size=6)
HEADERS = st.lists(st.tuples(st.text(max_size=5), OCTETS), max_size=3)
WITH_HEADERS = st.lists(st.tuples(CONTENT, HEADERS), min_size=1, max_size=8)
NOW = 1_700_000_000_000
LARGEST = 1_000_000


def plain(encoded: EncodedBatch) -> tuple[object, ...]:
    stamped = b"".join(bytes(part) for part in encoded.stamped(ProducerIdentity(7, 1), 5))
    return stamped, encoded.count, encoded.base_time, encoded.last_time, encoded.codec


@pytest.mark.parametrize("compression", [UNCOMPRESSED, Compression(CompressionCodec.ZSTD)])
@given(parts=PARTS)
def test_what_is_encoded_together_is_what_each_gives_alone(
    compression: Compression, parts: list[list[Content]]
) -> None:
    records = [batch(part) for part in parts]
    alone = [plain(one) for part in records for one in encode_batches(part, NOW, LARGEST, compression)]
    assert [plain(one) for one in encode_each(records, NOW, compression)] == alone


@given(first=WITH_HEADERS, second=st.lists(CONTENT, max_size=4), skipped=st.integers(0, 3))
def test_headers_are_read_as_they_were_written_beside_records_that_have_none(
    first: list[tuple[Content, Headers]], second: list[Content], skipped: int
) -> None:
    contents, headers = [content for content, _ in first], [each for _, each in first]
    records = with_headers(batch(contents), headers).slice(min(skipped, len(first) - 1))
    parts = [records, batch(second)] if second else [records]
    batches = [
        b"".join(bytes(part) for part in one.stamped(ProducerIdentity(7, 1), 5))
        for one in encode_each(parts, NOW)
    ]
    shown = headers[min(skipped, len(first) - 1) :]
    assert decoded_headers(batches[0]) == shown
    assert [decoded_headers(one) for one in batches[1:]] == [[[] for _ in second]] * bool(second)
    for one, part in zip(batches, parts, strict=True):
        assert len(one) <= encoded_size(part) + (0 if one is batches[0] else 2 * len(part))
        assert [row[2] for row in decoded(one)] == part.column("value").to_pylist()


@given(part=st.lists(CONTENT, min_size=1, max_size=8), before=st.integers(0, 3))
def test_no_batch_takes_more_than_its_size_says(part: list[Content], before: int) -> None:
    padding: list[Content] = [(b"other", bytes(1_000), 0)] * before
    records: pa.RecordBatch = batch([*padding, *part]).slice(before)
    (encoded,) = encode_each([records], NOW)
    assert sum(len(one) for one in encoded.stamped(ProducerIdentity(7, 1), 5)) <= encoded_size(records)
