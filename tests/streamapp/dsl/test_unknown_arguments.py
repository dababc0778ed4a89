"""Calls with arguments that do not exist, as a user of the command reads about them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from streamapp.cli.main import root

HEAD = """
from streamapp.dsl import *
app = App("small")
log = app.embedded("main", path="./data")
words = log.stream("words", columns="word STRING")
"""

WRONG = [
    ('words.join("j", words, whithin="5m")', 'join: unknown argument "whithin"; did you mean "within"?'),
    ('App("other", processor=3)', 'App: unknown argument "processor"; did you mean "processors"?'),
    (
        'words.partition_by("p", key="word", idleTimeout="1s")',
        'partition_by: unknown argument "idleTimeout"; did you mean "idle_timeout"?',
    ),
    (
        'app.kafka("k", bootstrap_server="kafka:9092")',
        'kafka: unknown argument "bootstrap_server"; did you mean "bootstrap_servers"?',
    ),
    ('log.stream("s", colums="a INT")', 'stream: unknown argument "colums"; did you mean "columns"?'),
    ('app.table("t", stores="lmdb")', 'table: unknown argument "stores"; did you mean "store"?'),
    (
        'words.broadcast("b", xyz=1)',
        'broadcast: unknown argument "xyz"; there are "name", "idle_timeout", "idle_quorum"',
    ),
    (
        'words.filter("f", "word > 1")',
        "filter: 'word > 1' has no name; write what it is, such as where=",
    ),
    (
        'words.send_to("s", words, words)',
        "has no name; write what it is, such as timestamp= or headers=",
    ),
    (
        'EventTime(colum="ts")',
        'EventTime: unknown argument "colum"; did you mean "column"?; column: missing; it has to say: '
        "a TIMESTAMP column of the stream, or one of whole numbers with `unit`",
    ),
    (
        'Remote(python="m:T", rate_limits=3)',
        'Remote: unknown argument "rate_limits"; did you mean "rate_limit"?',
    ),
    (
        'BadRecords(action="skp")',
        'BadRecords: action: found the text "skp"; allowed are fail, skip, deadLetter; did you mean "skip"?',
    ),
    (
        'SideInput(stream="words", python=lambda batch: batch)',
        "SideInput: python: found a lambda, which has no name for executors to find; define a function or "
        "class at the top level of a module",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_an_argument_that_does_not_exist_is_told_with_its_line_and_the_nearest_one(
    call: str, message: str, tmp_path: Path
) -> None:
    program = tmp_path / "small.py"
    program.write_text(HEAD + call + "\n")
    checked = CliRunner().invoke(root, ["check", str(program)])
    assert checked.exit_code == 1
    finding, count = checked.output.splitlines()
    assert finding.startswith(f"{program}: line 6: ")
    assert finding.endswith(message)
    assert count == f"{program}: 1 problem"
