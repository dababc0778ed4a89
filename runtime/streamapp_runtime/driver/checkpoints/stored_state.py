"""Reads the layout and checkpoints among the values of a checkpoint stream, and takes nothing over."""

from collections.abc import Mapping

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.checkpoint import Checkpoint, CheckpointUnreadableError, StateUnreadableError
from streamapp_runtime.checkpoint_entries import LAYOUT
from streamapp_runtime.systems.stream_system import StreamSystem


class LayoutUnreadableError(StateUnreadableError):
    """The layout cannot be read; going on could part keys from their state."""


def read_layout(values: Mapping[bytes, bytes], stream: str) -> Layout | None:
    """The layout in a checkpoint stream; None where no driver has written one."""
    value = values.get(LAYOUT.key)
    if value is None:
        return None
    layout = decode_layout(value.decode(errors="replace"))
    if isinstance(layout, Refusal):
        raise LayoutUnreadableError(f"{stream}, partition 0: {layout}")
    return layout


def read_checkpoint(values: Mapping[bytes, bytes], stream: str, task: str) -> Checkpoint | None:
    """A task's checkpoint in a checkpoint stream; None where the task has written none."""
    value = values.get(task.encode())
    return None if value is None else decode_checkpoint(value, stream, task)


def decode_checkpoint(value: bytes, stream: str, task: str) -> Checkpoint:
    """A checkpoint; a CheckpointUnreadableError names the stream, its partition and the task."""
    try:
        return Checkpoint.decode(value)
    except CheckpointUnreadableError as error:
        raise CheckpointUnreadableError(f"{stream}, partition 0, task {task}: {error}") from None


def stored_values(system: StreamSystem, checkpoints: str) -> Mapping[bytes, bytes] | None:
    """The values in this checkpoint stream; None where there is no such stream."""
    if system.partitions(checkpoints) is None:
        return None
    return system.latest(checkpoints, settled=False)
