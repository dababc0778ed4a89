"""What a user should know of how an accepted app runs: sentences that a plan shows beside its errors."""

from collections.abc import Iterator

from streamapp.author.app_warnings import app_warnings
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouper import SINGLE_TASK


def plan_notes(app: StreamApp) -> Iterator[str]:
    """Everything worth a note, in a fixed order."""
    yield from _idle_processors(app)
    yield from _feedback(app)
    yield from map(str, app_warnings(app))


def _idle_processors(app: StreamApp) -> Iterator[str]:
    surplus = app.spec.processors - 1
    if app.spec.grouper == SINGLE_TASK.name and surplus:
        idle = "the other is idle" if surplus == 1 else f"the other {surplus} are idle"
        yield (
            f"grouper {SINGLE_TASK.name} forms one task that reads everything: one of the "
            f"{app.spec.processors} processors runs it, and {idle}"
        )


def _feedback(app: StreamApp) -> Iterator[str]:
    for stream in app.spec.streams:
        if stream.feedback:
            yield (
                f"stream {stream.name} is feedback: what the app writes to it comes back until an operator "
                "drops it; it holds no watermark back, and a batch app reads in its next turn what it wrote "
                "in this one"
            )
