"""Where lines are shown in place: on a terminal that a person looks at."""

from io import StringIO

import pytest

from streamapp.cli.app_table.table_screen import is_screen


class _Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "expected"),
    [
        (_Terminal(), {"TERM": "xterm-256color"}, True),
        (_Terminal(), {}, True),
        (_Terminal(), {"TERM": "dumb"}, False),
        (_Terminal(), {"TERM": "xterm", "CI": "true"}, False),
        (StringIO(), {"TERM": "xterm"}, False),
    ],
    ids=["terminal", "without a name", "dumb", "log of CI", "pipe"],
)
def test_a_log_and_a_pipe_are_no_screens(
    monkeypatch: pytest.MonkeyPatch, stream: StringIO, environment: dict[str, str], expected: bool
) -> None:
    for name in ("TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    assert is_screen(stream) is expected
