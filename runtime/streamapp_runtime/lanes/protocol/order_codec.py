"""Orders as they travel to one lane: the first as a whole, later ones as what is new in them.

Both sides remember the order before and the checkpoints that the lane has reported for it. What is the same
is not sent, and a digest over all checkpoints shows that both mean the same ones: a commit compares with what
the driver believes, and never with the lane's own memory alone.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any, Final

from streamapp_runtime.lanes.protocol.batch_orders import (
    BroadcastOrder,
    KnownRejection,
    LaneOrder,
    Orders,
    ReadRange,
    SidePartition,
    TaskOrder,
)
from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionCount
from streamapp_runtime.lanes.protocol.state_query import StateQuery
from streamapp_runtime.lanes.protocol.task_report import TaskReport

_DIGEST_BYTES: Final = 16


class OrderMismatchError(Exception):
    """An order builds on another one than the lane has served, or on other checkpoints than it reported."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a task's order: how it travels, and what stands for it where it is not sent."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]
    carried_over: bool  # whether it stays as it was where it is not sent; empty otherwise


def _same(value: Any) -> Any:
    return value


def _lists(values: Sequence[Any]) -> list[list[Any]]:
    return [[getattr(value, name) for name in type(value).__slots__] for value in values]


def _pairs(values: Sequence[Sequence[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((str(stream), int(index)) for stream, index in values)


def _known_rejection(values: Sequence[Any]) -> KnownRejection:
    stream, partition, offset, reason, cause = values
    return KnownRejection(stream, partition, offset, reason, RejectionCause(cause))


def _broadcast_order(values: Sequence[Any]) -> BroadcastOrder:
    table, fills, version, makes, keeps = values
    return BroadcastOrder(table, fills, version, makes, tuple(keeps))


def _counts(values: Sequence[Sequence[Any]]) -> tuple[RejectionCount, ...]:
    return tuple(RejectionCount.parse(fields) for fields in values)


_FIELDS: Final[Mapping[str, _Field]] = {
    "name": _Field(_same, _same, carried_over=True),
    "changelog": _Field(_same, _same, carried_over=True),
    "checkpoint": _Field(_same, _same, carried_over=True),
    "ranges": _Field(_lists, lambda values: tuple(ReadRange(*v) for v in values), carried_over=False),
    "side_inputs": _Field(_lists, lambda values: tuple(SidePartition(*v) for v in values), carried_over=True),
    "lagging": _Field(_same, _pairs, carried_over=False),
    "ended": _Field(_same, _pairs, carried_over=False),
    "inherited_bookkeeping": _Field(_same, _same, carried_over=True),
    "rejections": _Field(_lists, _counts, carried_over=True),
}
"""Every field of a task's order."""
if tuple(_FIELDS) != tuple(one.name for one in fields(TaskOrder)):
    raise TypeError("a task's order has other fields than those that travel")
_EMPTY: Final = TaskOrder("", 0, "")


@dataclass(slots=True)
class OrderMemory:
    """One lane's last order with the checkpoints that it reported, as one of the two sides has them."""

    _batch: int = 0
    _lane: LaneOrder | None = None
    _reported: dict[str, str] = field(default_factory=dict)  # by task, since that order

    def encode(self, orders: Orders) -> bytes:
        """An order as it travels, and remember it. `orders` is what one lane hears."""
        lane, before = orders.lane, self._tasks(orders.lane)
        head: dict[str, Any] = {
            "incarnation": orders.incarnation,
            "batch": orders.batch,
            "base": self._batch if before is not None else 0,
            "time_ms": orders.time_ms,
            "processor": lane.processor,
            "executor_id": lane.executor_id,
            "shared": _lists(lane.shared),
            "queries": [query.fields() for query in lane.queries],
            "snapshots": lane.snapshots,
            "release": orders.release,
            "skip": _lists(orders.skip),
            "trial": orders.trial,
            "steps_to": orders.steps_to,
            "size": len(lane.tasks),
            "digest": _digest(lane),
        }
        tasks = {}
        for index, task in enumerate(lane.tasks):
            base = before[index] if before is not None else _EMPTY
            if changed_fields := _changed_fields(task, base, self._reported.get(base.name, base.checkpoint)):
                tasks[index] = changed_fields
        self._remember(orders)
        return json.dumps(head | {"tasks": tasks}, separators=(",", ":")).encode()

    def decode(self, order: bytes) -> Orders:
        """An order as it was sent, and remember it; OrderMismatchError where it builds on another."""
        head: dict[str, Any] = json.loads(order)
        base: Sequence[TaskOrder] = (_EMPTY,) * head["size"]
        if head["base"]:
            if self._lane is None or head["base"] != self._batch or len(self._lane.tasks) != head["size"]:
                raise OrderMismatchError(
                    f"batch {head['batch']} builds on {head['base']}, not on {self._batch}"
                )
            base = self._lane.tasks
        changed_fields = head["tasks"]
        tasks = tuple(
            _task(task, self._reported.get(task.name, task.checkpoint), changed_fields.get(str(index), {}))
            for index, task in enumerate(base)
        )
        shared = tuple(_broadcast_order(values) for values in head["shared"])
        queries = tuple(StateQuery.of_fields(values) for values in head["queries"])
        snapshots = tuple(head["snapshots"])
        lane = LaneOrder(head["processor"], tasks, head["executor_id"], shared, queries, snapshots)
        if _digest(lane) != head["digest"]:
            raise OrderMismatchError(
                f"batch {head['batch']} is meant for other checkpoints than {lane.processor} has"
            )
        orders = Orders(
            incarnation=head["incarnation"],
            batch=head["batch"],
            time_ms=head["time_ms"],
            lanes=(lane,),
            release=head["release"],
            skip=tuple(_known_rejection(values) for values in head["skip"]),
            trial=head["trial"],
            steps_to=head["steps_to"],
        )
        self._remember(orders)
        return orders

    def note(self, reports: Sequence[TaskReport]) -> None:
        """Remember the checkpoints that the lane has reported for its last order."""
        self._reported |= {report.task: report.checkpoint for report in reports if report.checkpoint}

    def _remember(self, orders: Orders) -> None:
        self._batch, self._lane = orders.batch, orders.lane
        self._reported.clear()

    def _tasks(self, lane: LaneOrder) -> tuple[TaskOrder, ...] | None:
        """The tasks of the order before, where it was about the same ones."""
        before = self._lane.tasks if self._lane is not None else None
        if before is None or [task.name for task in before] != [task.name for task in lane.tasks]:
            return None
        return before


def _changed_fields(task: TaskOrder, before: TaskOrder, checkpoint: str) -> dict[str, Any]:
    """The fields that have to be sent."""
    changed_fields = {}
    for name, field_of_task in _FIELDS.items():
        value, base = getattr(task, name), _unsent(name, before, checkpoint)
        if value is not base and value != base:
            changed_fields[name] = field_of_task.encode(value)
    return changed_fields


def _task(before: TaskOrder, checkpoint: str, changed_fields: Mapping[str, Any]) -> TaskOrder:
    values = {}
    for name, field_of_task in _FIELDS.items():
        sent = name in changed_fields
        values[name] = (
            field_of_task.decode(changed_fields[name]) if sent else _unsent(name, before, checkpoint)
        )
    return TaskOrder(**values)


def _unsent(name: str, before: TaskOrder, checkpoint: str) -> Any:
    """The value of a field that is not sent; `checkpoint` is the one that the lane has."""
    if name == "checkpoint":
        return checkpoint
    return getattr(before if _FIELDS[name].carried_over else _EMPTY, name)


def _digest(lane: LaneOrder) -> str:
    """Of what each task of the lane is to begin with."""
    parts = "\n".join(f"{task.name} {task.checkpoint}" for task in lane.tasks)
    return blake2b(parts.encode(), digest_size=_DIGEST_BYTES).hexdigest()
