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
from tests.harness.kafka.record_contents import Content, batch

OCTETS = st.one_of(st.none(), st.binary(max_size=300))
CONTENT = st.tuples(OCTETS, OCTETS, st.one_of(st.none(), st.integers(0, 1 << 40)))
PARTS = st.lists(st.lists(CONTENT, min_size=1, max_size=8), min_size=1, max_size=6)
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


@given(part=st.lists(CONTENT, min_size=1, max_size=8), before=st.integers(0, 3))
def test_no_batch_takes_more_than_its_size_says(part: list[Content], before: int) -> None:
    padding: list[Content] = [(b"other", bytes(1_000), 0)] * before
    records: pa.RecordBatch = batch([*padding, *part]).slice(before)
    (encoded,) = encode_each([records], NOW)
    assert sum(len(one) for one in encoded.stamped(ProducerIdentity(7, 1), 5)) <= encoded_size(records)
