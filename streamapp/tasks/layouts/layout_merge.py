"""The entries that the layout kept with the state hands on to the layout of a new model."""

from dataclasses import replace

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import Split


def merged_layout(stored_layout: Layout, proposed: Layout) -> Layout:
    """The layout to keep from now on: the proposed one, with what only the kept one can know.

    Whoever made the model worked from a copy, which may not have the split offsets yet or may still hold
    splits that are long finished. Of its splits only those count that are newer than the kept layout.
    """
    newer = tuple(split for split in proposed.splits if _is_newer(split, stored_layout))
    return replace(proposed, splits=stored_layout.splits + newer, ends=stored_layout.ends)


def _is_newer(split: Split, stored_layout: Layout) -> bool:
    stored_stream = stored_layout.streams.get(split.stream)
    return stored_stream is None or split.before >= stored_stream.last
