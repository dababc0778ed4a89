"""Fields that the resource has for what no version can do yet: refused when set, never ignored."""

from collections.abc import Iterator

from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp


def not_supported(app: StreamApp) -> Iterator[Problem]:
    """The refusal of each such field, at its path."""
    home = app.spec.home.name
    for path, name in _written_streams(app):
        system = app.spec.stream(name).system
        if system != home:
            message = (
                f'"{name}" is in "{system}", and apps write to their home, "{home}"; write to a stream there'
            )
            yield _not_yet(path, message)
    if app.spec.placement.standbys:
        message = "each task has one copy of its state; leave it out"
        yield _not_yet("spec.placement.standbys", message)


def _written_streams(app: StreamApp) -> Iterator[tuple[str, str]]:
    """The paths at which streams are named that the app writes, and the streams."""
    spec = app.spec
    for index, operator in enumerate(spec.operators):
        if operator.send_to is not None:
            yield f"spec.operators[{index}].sendTo.stream", operator.send_to.stream
    for field, stream in (
        ("onBadRecord", spec.on_bad_record.stream),
        ("onCodeError", spec.on_code_error.stream),
        ("lateRows", spec.late_rows.stream),
    ):
        if stream is not None:
            yield f"spec.{field}.stream", stream


def _not_yet(path: str, message: str) -> Problem:
    return Problem(0, 0, path, f"not yet supported: {message}", Reason.NOT_YET_SUPPORTED)
