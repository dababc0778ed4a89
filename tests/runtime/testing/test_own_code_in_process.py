"""The app's own Python in the test's process: its errors, and breakpoints in it."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from streamapp.testing import AppFailedError, TestApp
from tests.harness.core.app_resources import app_resource
from tests.harness.user_code import kit_code

Start = Callable[..., TestApp]


def measuring(function: str = "lengths", **spec: Any) -> dict[str, Any]:
    python = f"tests.harness.user_code.kit_code:{function}"
    streams = [
        {"name": "views", "key": "user", "columns": "user STRING, page STRING"},
        {"name": "out", "key": "user"},
    ]
    measured = {"from": "views", "python": python, "columns": "user STRING, length INT"}
    operators = [
        {"name": "measured", "map": measured},
        {"name": "sent", "sendTo": {"from": "measured", "stream": "out"}},
    ]
    return app_resource(operators, streams, **spec)


def test_own_code_is_called_in_this_process(streamapp: Start) -> None:
    kit_code.CALLS.clear()
    app = streamapp(measuring())
    app.send("views", [{"user": "ann", "page": "/"}, {"user": "ann", "page": "/cart"}])
    assert app.rows("out") == [{"user": "ann", "length": 1}, {"user": "ann", "length": 5}]
    assert kit_code.CALLS == [2]


def test_an_error_shows_the_record_and_the_codes_own_frames_and_none_of_ours(streamapp: Start) -> None:
    app = streamapp(measuring())
    app.send("views", {"user": "ann", "page": "/"})
    with pytest.raises(AppFailedError) as failed:
        app.send(
            "views",
            [{"user": "ann", "page": "/a"}, {"user": "bob", "page": None}, {"user": "bob", "page": "/"}],
        )
    message = str(failed.value)
    assert "views#0 at offset 2" in message
    assert "ValueError" in message
    assert "a view without a page" in message
    assert "kit_code.py" in message
    assert "in measured" in message
    assert "streamapp_runtime" not in message


def test_the_record_is_left_out_where_the_app_says_so(streamapp: Start) -> None:
    app = streamapp(measuring(onCodeError={"action": "skip"}))
    app.send(
        "views", [{"user": "ann", "page": "/a"}, {"user": "bob", "page": None}, {"user": "bob", "page": "/"}]
    )
    assert [row["length"] for row in app.rows("out")] == [2, 1]
    assert [(bad.offset, bad.key) for bad in app.bad()] == [(1, b"bob")]


def test_breakpoints_stop_in_the_apps_own_code(streamapp: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[tuple[str, int]] = []

    def debugger() -> None:
        frame: FrameType = sys._getframe(1)
        stops.append((frame.f_code.co_name, frame.f_locals["rows"]))

    monkeypatch.setattr(sys, "breakpointhook", debugger)
    app = streamapp(measuring("stopping"))
    app.send("views", [{"user": "ann", "page": "/"}, {"user": "bob", "page": "/"}])
    assert stops == [("stopping", 2)]
    assert len(app.rows("out")) == 2
