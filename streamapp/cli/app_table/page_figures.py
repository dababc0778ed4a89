"""The data that a driver's page serves, as figures.

Page and command may be of different releases: what the command cannot read is refused as a whole.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from streamapp.cli.app_table.app_figures import RunFigures, StreamFigures, TableFigures, TaskFigures
from streamapp.plan.partition_plan import Role
from streamapp.plan.render.wording import ROLES, clip_end, legible
from streamapp.protocol.page_wait import Wait

PAGE_DATA: Final = "/page/data"
ANSWER_SECONDS: Final = 2.0
"""A driver that has not answered by then is shown as one that does not."""
_STARTING: Final = "starting"
_INTERMEDIATE: Final = ROLES[Role.INTERMEDIATE]
_MOST_SHOWN: Final = 100
"""So many characters of an answer that is no data of a page are repeated."""


class ForeignPageError(Exception):
    """The answer holds no data of a page that this version can read."""


def run_figures(status: int, body: bytes) -> RunFigures:
    """The figures in an answer of a page; a ForeignPageError where the answer is none of a page."""
    if status != 200:
        text = legible(body.decode(errors="replace").strip())
        raise ForeignPageError(f"it answers {status}: {clip_end(text, _MOST_SHOWN)}")
    try:
        snapshot = json.loads(body)
    except ValueError as error:
        raise ForeignPageError("it answers something else than JSON") from error
    try:
        return _run_figures(snapshot)
    except (KeyError, TypeError, ValueError) as error:
        raise ForeignPageError("the page is of another version of streamapp") from error


def _run_figures(snapshot: Mapping[str, Any]) -> RunFigures:
    point: Mapping[str, Any] | None = snapshot["point"]
    has_run = snapshot["state"] != _STARTING  # before its first batch a driver knows no lag
    streams = tuple(_stream(fields, has_run) for fields in snapshot["streams"])
    outer_streams = [stream for stream in streams if stream.role != _INTERMEDIATE]
    tasks = tuple(
        _task(task, fields, has_run) for fields in snapshot["processors"] for task in fields["tasks"]
    )
    return RunFigures(
        app=str(snapshot["app"]),
        state=str(snapshot["state"]),
        processors=len(snapshot["processors"]),
        rows_in=_sum(stream.rows_in for stream in outer_streams),
        rows_out=_sum(stream.rows_out for stream in outer_streams),
        lag=int(snapshot["lag"]) if has_run else None,
        behind=max((stream.behind for stream in streams if stream.behind is not None), default=None),
        age=max(0.0, snapshot["now"] - (point["at"] if point else snapshot["started"])),
        streams=streams,
        tables=tuple(
            TableFigures(fields["name"], fields["kind"], fields["entries"], fields["bytes"])
            for fields in snapshot["tables"]
        ),
        tasks=tasks,
        waits=tuple(Wait(str(fields["kind"]), str(fields["text"])) for fields in snapshot["waits"]),
    )


def _sum(rates: Iterable[float | None]) -> float | None:
    known_rates = [rate for rate in rates if rate is not None]
    return sum(known_rates) if known_rates else None


def _stream(fields: Mapping[str, Any], has_run: bool) -> StreamFigures:
    return StreamFigures(
        fields["name"],
        fields["role"],
        fields["partitions"],
        fields["inPerSecond"],
        fields["outPerSecond"],
        int(fields["lag"]) if has_run else None,
        fields["behind"],
    )


def _task(task: Mapping[str, Any], processor: Mapping[str, Any], has_run: bool) -> TaskFigures:
    return TaskFigures(
        task["name"],
        processor["name"],
        processor["location"],
        task["state"],
        task["why"],
        tuple(task["partitions"]),
        task["inPerSecond"],
        int(task["lag"]) if has_run else None,
    )
