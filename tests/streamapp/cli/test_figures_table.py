"""The table of `streamapp top`: order, width, and figures as texts."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.cli.app_table.app_figures import AppFigures
from streamapp.cli.app_table.figure_text import count_text, duration_text, rate_text, size_text
from streamapp.cli.app_table.figures_table import COLUMNS, SORTS, sorted_apps, table_lines
from streamapp.plan.render.wording import display_width

APP = AppFigures(
    name="page-views", namespace="shop", phase="Running", ready="True", generation=3, accepted_generation=3,
    processors=2, tasks=8, rows_in=95_800.0, rows_out=15_000.0, lag=2_200_000, behind=97.0, restarts=0,
    age=3.0,
)  # fmt: skip
APPS = st.builds(
    AppFigures,
    name=st.text(min_size=1, max_size=60),
    namespace=st.none() | st.text(max_size=30),
    phase=st.sampled_from(["Running", "BackingOff"]),
    lag=st.none() | st.integers(0, 10**12),
    lag_is_bound=st.booleans(),
    behind=st.none() | st.floats(0, 1e9),
    rows_in=st.none() | st.floats(0, 1e9),
    age=st.none() | st.floats(0, 1e9),
)


@given(st.lists(APPS, max_size=5), st.integers(1, 200), st.booleans())
def test_no_line_is_wider_than_the_terminal_and_none_holds_a_control_character(
    apps: list[AppFigures], width: int, namespaces: bool
) -> None:
    lines = table_lines(apps, width, namespaces=namespaces)
    assert len(lines) == len(apps) + 1
    assert all(display_width(line) <= width and line.isprintable() for line in lines)


@given(st.lists(APPS, max_size=8), st.sampled_from(SORTS))
def test_every_column_sorts_all_apps_and_what_is_not_known_comes_last(
    apps: list[AppFigures], sort: str
) -> None:
    ordered = sorted_apps(apps, sort)
    assert sorted(map(id, ordered)) == sorted(map(id, apps))
    values = [COLUMNS[sort].sort_by(app) for app in ordered]
    known = [value for value in values if value is not None]
    assert values[: len(known)] == known == sorted(known, reverse=COLUMNS[sort].descends)


def test_columns_are_left_out_in_their_order_before_a_name_gets_shorter_than_can_be_read() -> None:
    def heads(width: int | None) -> list[str]:
        return table_lines([APP], width, namespaces=False)[0].split()

    every = [column.head for name, column in COLUMNS.items() if name != "namespace"]
    assert heads(None) == every
    assert heads(80) == [head for head in every if head not in ("GEN", "PROC")]
    assert heads(40) == ["NAME", "PHASE", "IN/S", "LAG", "BEHIND"]
    assert heads(30) == ["NAME", "PHASE", "IN/S", "LAG"]


def test_a_long_name_is_shortened_at_its_end() -> None:
    (line,) = table_lines([replace(APP, name="a" * 60)], 80, namespaces=False)[1:]
    assert "aaa…  Running" in line


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "-"),
        (0, "0"),
        (9_999, "9999"),
        (9_999.6, "10.0k"),
        (99_960, "100k"),
        (999_999, "1.0M"),
        (10**16, "10000T"),
    ],
)
def test_counts_are_short(number: float | None, text: str) -> None:
    assert count_text(number) == text


@pytest.mark.parametrize(
    ("rate", "text"), [(None, "-"), (0.0, "0"), (0.01, "<0.1"), (0.4, "0.4"), (9.96, "10"), (50.0, "50")]
)
def test_a_slow_stream_does_not_look_idle(rate: float | None, text: str) -> None:
    assert rate_text(rate) == text


@pytest.mark.parametrize(
    ("size", "text"), [(None, "-"), (0, "0 B"), (999, "999 B"), (242_000, "242 kB"), (5_000, "5.0 kB")]
)
def test_sizes_have_their_unit(size: int | None, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (-1.0, "0s"),
        (119.4, "119s"),
        (120, "2m00s"),
        (599, "9m59s"),
        (600, "10m"),
        (3_600, "1h00m"),
        (36_000, "10h"),
        (172_800, "2d"),
    ],
)
def test_ages_are_as_kubectl_prints_them(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text
