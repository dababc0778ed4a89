"""Layouts of any shape, as strategies."""

from hypothesis import strategies as st

from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition

TASKS = [f"Partition {index}" for index in range(12)] + ["north", "", "a\u2028b"]


COUNTS = st.integers(0, 50)


@st.composite
def stream_layouts(draw: st.DrawFn) -> StreamLayout:
    first, initial, more = draw(COUNTS), draw(st.integers(0, 6)), draw(st.integers(0, 6))
    owners = draw(st.lists(st.none() | st.sampled_from(TASKS), min_size=initial, max_size=initial))
    folds = draw(st.lists(st.integers(0, initial - 1), min_size=more, max_size=more)) if initial else []
    return StreamLayout(first, initial + more, initial, tuple(owners), tuple(folds))


@st.composite
def split_values(draw: st.DrawFn) -> Split:
    before = draw(st.integers(1, 4))
    offsets = draw(st.none() | st.lists(st.integers(0, 2**62), min_size=before, max_size=before).map(tuple))
    times = st.floats(allow_nan=False, allow_infinity=False)
    parting = draw(st.sampled_from(KeyMovement))
    return Split(draw(st.text()), before, before + draw(COUNTS), draw(times), parting, offsets)


PARTITIONS = st.builds(Partition, st.sampled_from(["clicks", "views"]), COUNTS)


LAYOUTS = st.builds(
    Layout,
    run=st.text(),
    grouper=st.sampled_from(["partition", "shop.tasks:apart"]),
    streams=st.dictionaries(st.text(max_size=4), stream_layouts(), max_size=3),
    changelog=st.dictionaries(st.sampled_from(TASKS), COUNTS),
    everywhere=st.lists(st.sampled_from(TASKS), unique=True).map(tuple),
    splits=st.lists(split_values(), max_size=3).map(tuple),
    ends=st.dictionaries(PARTITIONS, st.integers(0, 2**62)),
)
