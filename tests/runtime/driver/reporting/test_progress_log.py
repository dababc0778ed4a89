"""Words about a run: when they are said, and what stands in them."""

from dataclasses import dataclass, replace
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.cli.run_process.message_output import CLEAR_LINE, TerminalOutput
from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.batches.side_input_progress import WAITING_SECONDS, AwaitedVersions
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus
from streamapp_runtime.driver.reporting.progress_log import (
    FIRST_LINES,
    LATER,
    SOON,
    ProgressLog,
)
from streamapp_runtime.driver.reporting.recent_progress import ProgressPoint, RecentProgress
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from tests.harness.engine.batch_results import batch


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def following(words: list[RunMessage], clock: Clock) -> ProgressLog:
    progress = ProgressLog(words.append, clock)
    progress.begin()
    return progress


@given(st.lists(st.tuples(st.floats(0, 4), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=60))
def test_the_rates_of_all_words_and_what_came_after_them_add_up_to_the_summary(
    batches: list[tuple[float, int, int]],
) -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = following(words, clock)
    told = clock.now
    shown, pending = 0.0, 0
    for number, (seconds, rows_in, rows_out) in enumerate(batches):
        clock.now += seconds
        before = len(words)
        progress.batch_committed(batch(number, rows_in=rows_in, rows_out=rows_out))
        pending += rows_in
        if len(words) > before:
            rate = words[-1].facts["rowsInPerSecond"]
            assert isinstance(rate, float)
            assert abs(rate - pending / (clock.now - told)) <= 0.05 + 1e-6 * rate
            shown, pending, told = shown + pending, 0, clock.now
    progress.ended()
    assert words[-1].facts["rowsIn"] == shown + pending == sum(rows for _, rows, _ in batches)
    assert words[-1].facts["batches"] == len(batches)


def test_words_come_every_second_at_first_and_every_ten_later() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = following(words, clock)
    for _ in range(200):
        clock.now += SOON
        progress.batch_committed(batch())
    assert len(words) == FIRST_LINES + int((200 * SOON - FIRST_LINES * SOON) / LATER)


def test_an_import_is_told_from_time_to_time_and_when_it_ends() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = ProgressLog(words.append, clock)
    for rows in range(1, 11):
        progress.import_progressed(ImportProgress("sales", rows))
        clock.now += 0.25
    progress.import_progressed(ImportProgress("sales", 10, ended=True))
    assert [word.text for word in words] == [
        "sales: 5 rows imported so far",
        "sales: 9 rows imported so far",
        "sales: 10 rows imported",
    ]


def test_a_refresh_is_told_when_a_version_comes_and_a_trouble_once_each_way() -> None:
    words: list[RunMessage] = []
    progress = following(words, Clock())
    looked, imported = RefreshStatus("prices"), RefreshStatus("prices", rows=7, versions=1)
    hindered = replace(imported, failures=1, trouble="there are no files")
    seen = (
        looked,
        imported,
        imported,
        hindered,
        replace(hindered, failures=2),
        replace(hindered, trouble=""),
    )
    for status in (*seen, replace(imported, rows=8, versions=2)):
        progress.tables_refreshed((status,))
    assert [(word.level, word.text) for word in words] == [
        ("info", "prices: a newer version is imported, 7 rows"),
        (
            "warn",
            "prices: the table is not refreshed, and rows see its version before: there are no files",
        ),
        ("info", "prices: the table is refreshed again"),
        ("info", "prices: a newer version is imported, 8 rows"),
    ]


def test_what_is_bad_or_restored_is_told_only_where_there_is_any() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = following(words, clock)
    for bad, restored in ((0, 0), (2, 7)):
        clock.now += 1
        progress.batch_committed(batch(bad=bad, restored=restored, restored_bytes=800 * restored))
    clean, other = words
    assert "bad" not in clean.text
    assert "restored" not in clean.text
    assert "bad 2" in other.text
    assert "restored 7 (5.6 kB)" in other.text


def test_the_last_line_says_how_many_records_were_left_out_of_which_stream_and_why() -> None:
    words: list[RunMessage] = []
    progress = following(words, Clock())
    reasons = {("views", "no number"): 7, ("views", "by zero"): 1, ("users", "no text"): 2, ("users", "x"): 1}
    for _ in range(2):
        progress.batch_committed(replace(batch(bad=11), rejected=reasons))
    progress.idle()
    progress.ended()
    for word in words[-2:]:  # an app without an end says it whenever it has read everything
        assert word.text.endswith(
            ", 22 records left out: 14 of views: no number; 4 of users: no text; 2 of views: by zero; "
            "2 for other reasons (the app's page shows where they are)"
        )
    left_out = words[-1].facts["leftOut"]
    assert isinstance(left_out, list)
    assert {(one["stream"], one["reason"]): one["records"] for one in left_out} == {
        place: 2 * number for place, number in reasons.items()
    }


def test_lines_say_how_many_rows_an_operator_left_out_for_a_null_key() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = following(words, clock)
    for _ in range(2):
        clock.now += LATER
        progress.batch_committed(replace(batch(), lacking={("totals", "key"): 3, ("hourly", "time"): 1}))
    progress.ended()
    assert "1 row of hourly without a time  3 rows of totals without a key" in words[0].text
    left_out = ", 2 rows of hourly without a time left out, 6 rows of totals without a key left out"
    assert words[-1].text.endswith(left_out)
    assert words[-1].facts["lacking"] == [
        {"operator": "hourly", "lack": "time", "rows": 2},
        {"operator": "totals", "lack": "key", "rows": 6},
    ]


def test_idleness_is_told_once_until_rows_come_again() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = following(words, clock)
    for rows in (5, 0, 0, 7, 0):
        progress.batch_committed(batch(rows_in=rows))
        clock.now += SOON
        progress.idle()
        progress.idle()
    assert [word.facts["event"] for word in words] == ["idle", "progress", "idle"]


def test_a_failed_batch_is_told_with_its_reason() -> None:
    words: list[RunMessage] = []
    following(words, Clock()).batch_failed("the disk is full")
    assert "the disk is full" in words[0].text
    assert words[0].facts == {"event": "trouble", "message": "the disk is full"}


def test_an_outage_is_told_in_two_lines_however_many_batches_fail_in_it() -> None:
    words: list[RunMessage] = []
    progress = following(words, Clock())
    why = "processor-0 is in views: 10.0.0.1:9092 does not answer"
    progress.outage(OutageNotice(OutagePhase.BEGUN, why, of_batch=True))
    for number in range(2, 20):
        progress.outage(OutageNotice(OutagePhase.GOES_ON, why, number, number, of_batch=True))
    progress.outage(OutageNotice(OutagePhase.OVER, why, 21.44, 19))
    assert [word.text for word in words] == [
        f"the streams' system is out of reach, and rows wait: {why}",
        "the streams' system answers again after 21.4 s; 19 batches failed meanwhile",
    ]
    assert [word.facts["event"] for word in words] == ["outage", "outageOver"]


def test_what_belongs_to_a_failure_is_told_once_while_it_stays_the_same() -> None:
    words: list[RunMessage] = []
    progress = following(words, Clock())
    for why in (
        "no page\n  File app.py",
        "no page\n  File app.py",
        "the disk is full",
        "no page\n  File app.py",
    ):
        progress.batch_failed(why)
    assert [word.facts["message"] for word in words] == [
        "no page\n  File app.py",
        "no page",
        "the disk is full",
        "no page\n  File app.py",
    ]


def test_on_a_terminal_passing_words_stand_in_one_line_and_others_below_each_other() -> None:
    screen = StringIO()
    terminal = TerminalOutput(screen, rewrites=True)
    for text, passing in (("begun", False), ("a", True), ("b", True), ("ended", False)):
        terminal.write(RunMessage(text, {}, passing))
    assert screen.getvalue() == f"begun\na{CLEAR_LINE}b{CLEAR_LINE}ended\n"


def test_elsewhere_every_word_has_its_line() -> None:
    file = StringIO()
    terminal = TerminalOutput(file, rewrites=False)
    for text, passing in (("begun", False), ("a", True), ("b", True)):
        terminal.write(RunMessage(text, {}, passing))
    assert file.getvalue() == "begun\na\nb\n"


def test_what_main_inputs_still_wait_for_is_told_while_tables_are_filled() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress = following(words, clock)
    for one in (replace(batch(1), filling=1200), batch(2)):
        clock.now += SOON
        progress.batch_committed(one)
    assert "1,200 records to load into tables" in words[0].text
    assert words[0].facts["toFill"] == 1200
    assert "to load" not in words[1].text


def shrinking(lags: list[int], *, bounded: bool = True, filling: int = 0) -> list[str]:
    """The words of a terminal, a second apart, of batches that leave so many records."""
    words: list[RunMessage] = []
    clock = Clock()
    progress = ProgressLog(words.append, clock, bounded=bounded)
    progress.begin()
    for number, lag in enumerate(lags, 1):
        clock.now += SOON
        given = replace(batch(number, lags={"views": lag}, rows_in=100, rows_out=50), filling=filling)
        progress.batch_committed(given)
    return [word.short for word in words]


def test_bounded_work_ends_when_its_lag_has_shrunk_away_as_it_did() -> None:
    first, second, *_, last = shrinking([7_300, 7_200, 7_100, 7_000])
    assert first.endswith("lag 7,300  ETA unknown")
    assert second.endswith("ETA 0:01:12")
    assert last == "in 100/s  out 50/s  lag 7,000  ETA 0:01:10"


def test_nothing_follows_from_a_lag_that_grows_or_while_tables_are_filled() -> None:
    assert shrinking([100, 200, 300])[-1].endswith("ETA unknown")
    assert "ETA unknown" in shrinking([300, 200, 100], filling=5)[-1]


def test_an_app_that_goes_on_has_no_end() -> None:
    assert "ETA" not in " ".join(shrinking([300, 200, 100], bounded=False))


def test_only_the_last_seconds_count_for_the_rates_and_the_end() -> None:
    recent = RecentProgress()
    for second in range(60):
        fast = max(0, second - 30)
        recent.note(ProgressPoint(float(second), 10 * fast, 5 * fast, 10_000 - 10 * fast))
    assert recent.rates == (10.0, 5.0)
    assert recent.seconds_left == (10_000 - 290) / 10


def test_a_terminal_gets_the_short_text_and_a_pipe_the_whole_one() -> None:
    for rewrites, line in ((True, "short"), (False, "long\n")):
        file = StringIO()
        TerminalOutput(file, rewrites).write(RunMessage("long", {}, passing=True, short="short"))
        assert file.getvalue() == line


def test_what_rows_wait_for_is_said_once_after_some_seconds_and_again_when_it_changes() -> None:
    words: list[RunMessage] = []
    clock = Clock()
    progress, awaited = following(words, clock), AwaitedVersions(clock)
    for streams in ((), ("users",), ("countries", "users"), (), ("users",)):
        for _ in range(3):
            progress.side_inputs_awaited(awaited.note(streams))
            clock.now += WAITING_SECONDS
    assert [word.facts["streams"] for word in words] == [["users"], ["countries", "users"], ["users"]]
    assert words[0].text.startswith("waiting: no version of users has ended yet")
