"""`python -m bench`: names, groups, figures as JSON."""

import json
from pathlib import Path

from click.testing import CliRunner

from bench.__main__ import MEASURED, main


def test_every_bench_is_listed_with_what_it_measures() -> None:
    lines = CliRunner().invoke(main, ["--list"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(MEASURED)
    assert all(len(line.split(maxsplit=1)[1]) > 20 for line in lines)


def test_a_group_is_all_its_benches_in_their_order() -> None:
    lines = CliRunner().invoke(main, ["kafka", "wire", "--list"]).stdout.splitlines()
    named = [line.split()[0] for line in lines]
    assert named == [name for name in MEASURED if name == "wire" or name.startswith("kafka.")]


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    refused = CliRunner().invoke(main, ["engine.lane"])
    assert refused.exit_code == 2
    assert 'no bench "engine.lane"; did you mean "engine.lanes"?' in refused.stderr


def test_figures_are_written_as_json_too(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    printed = CliRunner().invoke(main, ["command", "--json", str(file)])
    figures = json.loads(file.read_text())
    assert figures
    assert {figure["bench"] for figure in figures} == {"command"}
    for figure in figures:
        assert figure["name"] in printed.stdout
        assert figure["value"] > 0
        assert set(figure) == {"bench", "name", "value", "unit", "aim", "missed", "comparedWith"}
    assert printed.exit_code == any(figure["missed"] for figure in figures)
