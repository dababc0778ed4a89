"""What a process writes and raises has no value of a Secret."""

import io
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.redacted_output import RedactedStream

MARK = "a-word-that-nobody-may-read"
KEY = '-----BEGIN-----\nabcdef012345\nwith "quotes" and ü\n-----END-----'
OUTPUT = f"""
import json, logging, sys, threading
from streamapp_runtime.redacted_output import RedactedError, redact_output, redacted_errors

redact_output([{MARK!r}, {KEY!r}, "abc"])
print("printed", {MARK!r}, end="")
print(" to the end of the line, abc")
sys.stderr.write({MARK!r}[:9])
sys.stderr.write({MARK!r}[9:] + "\\n")
sys.stderr.writelines(["lines ", {MARK!r}, "\\n"])
logging.warning("logged %s", {MARK!r})
sys.stderr.write(json.dumps({{"message": {KEY!r}}}) + "\\n")
sys.stderr.write(json.dumps({{"message": {KEY!r}}}, ensure_ascii=False) + "\\n")
for line in {KEY!r}.splitlines():
    print("a line:", line)
thread = threading.Thread(target=lambda: int({MARK!r}))
thread.start()
thread.join()
try:
    with redacted_errors():
        raise ValueError("raised") from KeyError({MARK!r})
except RedactedError as error:
    print("left as", error)
try:
    with redacted_errors():
        raise ValueError("nothing secret")
except ValueError as error:
    print("left alone", error)
print("without an end", {MARK!r}, end="")
raise SystemExit("ended by " + {MARK!r})
"""


@pytest.fixture(scope="module")
def output() -> str:
    done = subprocess.run([sys.executable, "-c", OUTPUT], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stdout + done.stderr


@pytest.mark.usefixtures("process")
def test_no_stream_no_log_line_and_no_error_repeats_a_value(output: str) -> None:
    assert MARK not in output
    assert "abcdef012345" not in output
    assert "quotes" not in output


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    "text",
    [
        "printed *** to the end of the line, abc",
        "lines ***",
        "logged ***",
        "a line: ***",
        "ValueError: invalid literal for int() with base 10: '***'",
        "KeyError: '***'",
        "ValueError: raised",
        "left alone nothing secret",
        "without an end ***",
        "ended by ***",
    ],
)
def test_everything_else_is_there(output: str, text: str) -> None:
    assert text in output


@given(st.text(alphabet="ab\n", max_size=60), st.lists(st.integers(0, 60)))
def test_however_a_text_is_cut_it_is_written_as_if_it_were_whole(text: str, cuts: list[int]) -> None:
    written = io.StringIO()
    stream = RedactedStream(written, lambda line: line.replace("abab", "*"))
    for first, last in pairwise(sorted({0, *cuts, len(text)})):
        stream.write(text[first:last])
    stream.flush()
    assert written.getvalue() == text.replace("abab", "*")


def test_a_line_without_end_is_written_before_it_fills_the_memory() -> None:
    written = io.StringIO()
    RedactedStream(written, lambda line: line).write("x" * 100_000)
    assert len(written.getvalue()) == 100_000


@pytest.mark.usefixtures("process")
def test_a_sample_of_a_bad_record_is_without_the_value_before_it_is_cut() -> None:
    script = f"""
from streamapp_runtime.lanes.protocol.rejections import LONGEST_SAMPLE
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord
from streamapp_runtime.redacted_output import redact_output

redact_output([{MARK!r}])
value = b"x" * (LONGEST_SAMPLE - 5) + {MARK.encode()!r}
sample = RejectedRecord("events", 1, 7, "no number", {MARK.encode()!r}, value, 0).sample(with_content=True)
assert sample.key == "***", sample.key
assert sample.value == "x" * (LONGEST_SAMPLE - 5) + "***", sample.value
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("process")
def test_what_the_jvm_of_a_driver_logs_goes_the_same_way() -> None:
    script = f"""
from streamapp_runtime.driver.spark.spark_session import open_configured_session
from streamapp_runtime.redacted_output import redact_output

redact_output([{MARK!r}])
session = open_configured_session("app", {{"spark.master": "local[1]"}})
session._jvm.org.slf4j.LoggerFactory.getLogger("app").error("logged by the JVM: {MARK}")
session.stop()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "logged by the JVM: ***" in done.stderr
    assert MARK not in done.stdout + done.stderr
