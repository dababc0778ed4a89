"""The promise of expansion, against an oracle that knows nothing of layouts: it watches where keys go."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from tests.harness.core.adopted_layout import adopted_layout
from tests.harness.core.task_forming import asked, formed, owner

HASHES = range(720)  # all remainders of all counts below
STREAMS = st.sampled_from(["bids", "clicks", "views"])


class History(RuleBasedStateMachine):
    """Streams come, grow, go, return, are joined. The first reader of a key holds its state for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.app: Assignment | None = None
        self.home: dict[tuple[str, int], str] = {}  # where the state of a key of a stream began
        self.joined: list[list[str]] = []

    @rule(stream=STREAMS, factor=st.sampled_from([1, 2, 3, 4]), base=st.sampled_from([1, 2, 3, 4]))
    def a_stream_comes_or_grows(self, stream: str, factor: int, base: int) -> None:
        known = self.app.layout.streams.get(stream) if self.app else None
        count = self.counts.get(stream) or (known.last if known else base)
        if count * factor <= 48:
            self.try_counts({**self.counts, stream: count * factor})

    @rule(stream=STREAMS, count=st.integers(1, 48))
    def a_stream_gets_any_count(self, stream: str, count: int) -> None:
        self.try_counts({**self.counts, stream: count})

    @precondition(lambda self: len(self.counts) > 1)
    @rule(data=st.data())
    def a_stream_goes(self, data: st.DataObject) -> None:
        gone = data.draw(st.sampled_from(sorted(self.counts)))
        self.try_counts({stream: count for stream, count in self.counts.items() if stream != gone})

    @rule(one=STREAMS, other=STREAMS)
    def two_streams_are_joined(self, one: str, other: str) -> None:
        joined = [*self.joined, sorted({one, other})]
        if not isinstance(asked(self.counts, self.app, copartition_groups=joined), Assignment):
            return
        self.joined = joined
        self.try_counts(self.counts)

    @precondition(lambda self: self.app is not None)
    @rule()
    def the_app_restarts_from_what_was_written(self) -> None:
        assert self.app is not None
        assert decode_layout(encode_layout(self.app.layout)) == self.app.layout

    def try_counts(self, counts: dict[str, int]) -> None:
        found = asked(counts, self.app, copartition_groups=self.joined)
        if isinstance(found, Assignment):
            self.app, self.counts = found, counts

    @invariant()
    def every_key_is_read_where_its_state_is(self) -> None:
        if self.app is None:
            return
        for stream, count in self.counts.items():
            readers = [owner(self.app, stream, index) for index in range(count)]
            for key in HASHES:
                reader = readers[key % count]
                assert self.home.setdefault((stream, key), reader) == reader

    @invariant()
    def keys_of_joined_streams_meet(self) -> None:
        for group in self.joined:
            present = [stream for stream in group if stream in self.counts]
            for key in HASHES if len(present) > 1 and self.app else ():
                homes = {self.home[stream, key] for stream in present}
                assert len(homes) == 1


TestHistory = History.TestCase


@settings(deadline=None)
@given(
    st.integers(1, 6),
    st.lists(st.integers(1, 3), max_size=4),
    st.sampled_from([BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK]),
)
def test_a_key_stays_through_any_growths_and_through_being_adopted(
    initial: int, factors: list[int], grouper: Any
) -> None:
    app = formed({"views": initial}, grouper=grouper)
    homes = {key: owner(app, "views", key % initial) for key in range(432)}
    count = initial
    for factor in factors:
        count *= factor
        app = formed({"views": count}, app, grouper=grouper)
        layout = adopted_layout(app.tasks, grouper, changelog=app.changelog)
        anew = formed({"views": count * 2}, layout=layout, grouper=grouper)
        for key, home in homes.items():
            assert owner(app, "views", key % count) == home
            assert owner(anew, "views", key % (count * 2)) == home
