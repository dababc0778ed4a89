"""Takes up an edit of the app that needs no restart, in a loop that runs and between two of its batches."""

from dataclasses import replace

from streamapp.author.monitoring import settle_seconds
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_changes import can_apply_live, changes
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import run_settings
from streamapp_runtime.driver.start.event_time import control_interval
from streamapp_runtime.driver.start.launch import Launch


def is_live(before: StreamApp, after: StreamApp) -> bool:
    """True if an app that runs can go on as another generation of itself."""
    return before.application_id == after.application_id and can_apply_live(changes(before, after))


def apply_edit(loop: Loop, app: StreamApp) -> None:
    """Go on as this generation. Only what lanes themselves go by has them start again."""
    loop.edit(run_settings(app), _next_generation(loop.launch, app))


def _next_generation(launch: Launch, app: StreamApp) -> Launch:
    """The same model of another generation."""
    event_time = launch.setup.time
    return replace(
        launch,
        context=launch.context.with_app(app),
        setup=replace(launch.setup, time=event_time and replace(event_time, interval=control_interval(app))),
        settle=settle_seconds(app),
    )
