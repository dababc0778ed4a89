"""What a process prints becomes log records: a line each, a whole traceback, and log lines as they are."""

import io
import json
import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.protocol.log_settings import LogFormat
from streamapp_runtime.log_lines.line_format import FACTS, LineFormatter
from streamapp_runtime.log_lines.line_labels import LineLabels, ProcessRole
from streamapp_runtime.log_lines.printed_lines import PrintedLines

STACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no: number\n'
LINES = st.lists(st.one_of(st.sampled_from(["a", "b c", "  indented", "é"]), st.just(STACK)), max_size=6)


class Records(logging.Handler):
    """The records of a logger."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.taken.append((record.levelname, record.getMessage()))


def printed(texts: list[str], log_format: LogFormat = "json") -> tuple[list[tuple[str, str]], str]:
    """The records that come of texts, and what goes on as it is."""
    records, stream = Records(), io.StringIO()
    logger = logging.Logger("printed", logging.DEBUG)
    logger.addHandler(records)
    lines = PrintedLines(stream, logger, log_format)
    lines.writelines(texts)
    lines.close_lines()
    return records.taken, stream.getvalue()


@given(LINES, st.lists(st.integers(0, 400)))
def test_however_a_text_is_cut_its_records_are_its_lines_and_whole_stacks(
    lines: list[str], cuts: list[int]
) -> None:
    text = "".join(line if line == STACK else f"{line}\n" for line in lines)
    bounds = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    records, passed = printed([text[first:last] for first, last in pairwise(bounds)])
    assert records == [
        ("ERROR", STACK.removesuffix("\n")) if line == STACK else ("INFO", line) for line in lines
    ]
    assert passed == ""


@pytest.mark.parametrize(
    ("log_format", "line"),
    [
        ("json", '{"@timestamp":"2026-11-24T20:45:08.024Z","log.level":"WARN"}\n'),
        ("text", "2026-11-24T20:45:08.024Z WARN shop.views Y: it is late\n"),
    ],
)
def test_a_line_that_has_the_format_goes_on_as_it_is(log_format: LogFormat, line: str) -> None:
    assert printed([line], log_format) == ([], line)
    other_format: LogFormat = "text" if log_format == "json" else "json"
    assert printed([line], other_format) == ([("INFO", line.removesuffix("\n"))], "")


def test_a_line_without_its_end_is_logged_when_the_process_ends_and_before_it_fills_the_memory() -> None:
    assert printed(["half"])[0] == [("INFO", "half")]
    assert printed(["x" * 100_000])[0] == [("INFO", "x" * 100_000)]


def record(message: str, facts: dict[str, object]) -> logging.LogRecord:
    made = logging.makeLogRecord({"msg": message, "levelno": logging.WARNING, "levelname": "WARNING"})
    setattr(made, FACTS, facts)
    return made


@given(st.text(), st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.none())))
def test_a_record_is_one_line_whatever_is_in_it(message: str, values: dict[str, object]) -> None:
    labels = LineLabels("shop.views", ProcessRole.DRIVER)
    line = LineFormatter("json", labels).format(record(message, {"event": "progress", **values}))
    assert "\n" not in line
    fields = json.loads(line)
    assert (fields["log.level"], fields["service.name"]) == ("WARN", "shop.views")
    assert fields["service.node.role"] == "driver"
    if "event" not in values:
        assert fields["event.action"] == "progress"


def test_lines_have_the_labels_of_the_lane_and_the_task_at_work() -> None:
    labels = LineLabels("shop.views", ProcessRole.EXECUTOR)
    formatter = LineFormatter("json", labels)
    with labels.of_lane("processor-1", ("Partition 0", "Partition 1"), lambda: "scored"):
        with labels.of_task(1):
            line = json.loads(formatter.format(record("one", {})))
        assert line["labels"] == {"processor": "processor-1", "task": "Partition 1", "step": "scored"}
        between = json.loads(formatter.format(record("two", {})))
        assert between["labels"] == {"processor": "processor-1", "step": "scored"}
    after = json.loads(formatter.format(record("three", {})))
    assert after["labels"] == {"processor": "processor-1"}
