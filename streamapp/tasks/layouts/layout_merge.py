"""What the layout kept with the state hands on to the layout of a new model."""

from dataclasses import replace

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import Split


def merged_layout(kept: Layout, proposed: Layout) -> Layout:
    """The layout to keep from now on: the proposed one, with what only the kept one can know.

    Whoever made the model worked from a copy, which may not have the split offsets yet or may still hold
    splits that are long finished. Of its splits only those count that are newer than the kept layout.
    """
    newer = tuple(split for split in proposed.splits if _is_newer(split, kept))
    return replace(proposed, splits=kept.splits + newer, ends=kept.ends)


def _is_newer(split: Split, kept: Layout) -> bool:
    known = kept.streams.get(split.stream)
    return known is None or split.before >= known.last
