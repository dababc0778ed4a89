from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import ENDED, Control
from tests.harness.core.control_histories import streams
from tests.harness.core.control_messages import P, hears, reader
from tests.harness.oracles.slow_reconciliation import partition_watermark, stream_watermark

Streams = tuple[list[list[Control]], list[int]]


@given(streams())
def test_after_every_message_the_watermarks_are_those_of_the_whole_history(given_streams: Streams) -> None:
    histories, turns = given_streams
    listener = reader(len(histories))
    read = [0] * len(histories)
    for turn in turns:
        hears(listener, P[turn], histories[turn][read[turn]])
        read[turn] += 1
        heard = [history[:end] for history, end in zip(histories, read, strict=True)]
        for index, history in enumerate(heard):
            upstream = listener.upstream(P[index])
            assert upstream is not None
            assert upstream.watermark == partition_watermark(history)
        assert listener.watermarks() == {"int": stream_watermark(heard)}


@given(streams())
def test_what_a_task_is_told_only_rises_and_its_last_word_is_the_watermark(given_streams: Streams) -> None:
    histories, turns = given_streams
    listener = reader(len(histories))
    left = [iter(history) for history in histories]
    told = [hears(listener, P[turn], next(left[turn])) for turn in turns]
    moves = [watermark for watermark in told if watermark is not None]
    assert moves == sorted(set(moves))
    assert moves.count(ENDED) <= 1
    assert (moves[-1] if moves else None) == stream_watermark(histories)


@given(streams(), st.data())
def test_batches_of_any_size_end_at_the_same_watermark(given_streams: Streams, data: st.DataObject) -> None:
    histories, turns = given_streams
    by_one, by_batch = reader(len(histories)), reader(len(histories))
    left = [iter(history) for history in histories]
    for turn in turns:
        message = next(left[turn])
        hears(by_one, P[turn], message)
        by_batch.accept(P[turn], message, 0)
        if data.draw(st.booleans()):
            by_batch.advance(0)
    by_batch.advance(0)
    assert by_batch == by_one
