"""Takes up an edit of the app that needs no restart, in a loop that runs and between two of its batches."""

from dataclasses import replace

from streamapp.author.monitoring import settle_seconds
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_changes import can_apply_live, changes
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.start.event_time import control_interval
from streamapp_runtime.driver.start.launch import Launch


def is_live(before: StreamApp, after: StreamApp) -> bool:
    """Whether an app that runs can go on as another generation of itself."""
    return before.application_id == after.application_id and can_apply_live(changes(before, after))


def apply_edit(loop: Loop, app: StreamApp) -> None:
    """Go on as this generation. Only what lanes themselves go by has them begin anew."""
    spec, before = app.spec, loop.launch
    loop.rows = loop.admission.rows = spec.batch.rows
    loop.admission.bytes = spec.batch.bytes
    loop.interval = milliseconds(spec.batch.interval) / 1000
    loop.first = loop.manning.first = milliseconds(spec.executor.start_timeout) / 1000
    loop.delay = loop.manning.delay = loop.manning.roster.delay = milliseconds(spec.rebalance_delay) / 1000
    after = _under(before, app)
    if after.setup != before.setup:
        loop.switch(after)
    else:
        loop.launch = loop.manning.launch = loop.backlog.launch = after


def _under(launch: Launch, app: StreamApp) -> Launch:
    """The same model of another generation."""
    keeping = launch.setup.time
    time = keeping and replace(keeping, interval=control_interval(app))
    return replace(
        launch,
        site=replace(launch.site, app=app),
        setup=replace(launch.setup, time=time),
        settle=settle_seconds(app),
    )
