"""An app reads from several systems and writes into several: what it makes is in its home."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.field_changes import changes, paths_with_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp.testing import AppRefusedError, TestApp
from streamapp_runtime.driver.modes.app_run import open_app_systems
from streamapp_runtime.driver.start.app_storage import storage_of

HOME, OTHER = "warehouse", "shop"
SIDES = ("north", "south")
VIEW_COLUMNS, USER_COLUMNS = "user STRING, page STRING", "user STRING, country STRING"


def _resource(**spec: Any) -> dict[str, Any]:
    """Views of one system are joined with users of the other one, and go out into the first."""
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "countries"},
        "spec": {
            "systems": [
                {"name": OTHER, "kafka": {"bootstrapServers": "shop:9092"}},
                {"name": HOME, "home": True, "kafka": {"bootstrapServers": "warehouse:9092"}},
            ],
            "streams": [
                {"name": "views", "system": OTHER, "topic": "events", "key": "user", "columns": VIEW_COLUMNS},
                {"name": "users", "system": HOME, "topic": "events", "key": "user", "columns": USER_COLUMNS},
                {"name": "located", "system": OTHER, "key": "user"},
                {"name": "all", "system": HOME, "key": "user"},
                {"name": "bad", "system": OTHER},
            ],
            "tables": [
                {
                    "name": "user-table",
                    "columns": USER_COLUMNS,
                    "sideInputs": [{"stream": "users", "bootstrap": True}],
                }
            ],
            "onBadRecord": {"action": "deadLetter", "stream": "bad"},
            "operators": [
                {
                    "name": "joined",
                    "joinTable": {"from": "views", "table": "user-table", "select": "user, page, country"},
                },
                {"name": "out", "sendTo": {"from": "joined", "stream": "located"}},
                {"name": "home", "sendTo": {"from": "joined", "stream": "all"}},
            ],
            **spec,
        },
    }


def _views(first: int, last: int) -> list[dict[str, Any]]:
    return [{"user": f"u{number % 5}", "page": str(number)} for number in range(first, last)]


def _pages(app: TestApp, stream: str) -> list[int]:
    return sorted(int(row["page"]) for row in app.rows(stream) if row)


def test_rows_of_two_systems_meet_and_each_output_is_written_once(tmp_path: Path) -> None:
    with TestApp(_resource(), partitions=3, processors=2) as app:
        app.send("users", [{"user": f"u{number}", "country": "fr"} for number in range(5)])
        app.send("views", _views(0, 20))
        app.kill(before_commit=True)
        app.send("views", _views(20, 30))
        app.send("views", [b"no view"], headers={"tenant": "north"})
        app.kill()
        app.grow("views", 6)
        app.send("views", _views(30, 40))
        app.restart()
        app.send("views", _views(40, 50), headers={"traceparent": "00-1"})
        assert _pages(app, "located") == _pages(app, "all") == list(range(50))
        assert {row["country"] for row in app.rows("located") if row} == {"fr"}
        (seen,) = app.bad()
        assert (seen.stream, seen.value, seen.headers) == ("views", b"no view", (("tenant", b"north"),))
        located, kept = (
            {record.key: record.partition for record in app.records(stream)} for stream in ("located", "all")
        )
        assert located == kept
        for stream in ("located", "all"):
            traced = [one.row["page"] for one in app.records(stream) if one.row and one.headers]
            assert sorted(traced) == [str(number) for number in range(40, 50)]


def test_the_app_of_the_page_writes_into_two_clusters_and_a_log() -> None:
    page = (Path(__file__).parents[4] / "docs/guide/resource.md").read_text("utf-8")
    regions = page.partition('```yaml title="regions.yaml"\n')[2].partition("```")[0]
    with TestApp(regions, partitions=3) as app:
        app.send("users", [{"user": f"{place}-{n}", "region": place} for place in SIDES for n in range(5)])
        app.send(
            "clicks", [{"user": f"{place}-{n % 5}", "page": f"/{n}"} for place in SIDES for n in range(9)]
        )
        written = {
            stream: Counter(row["region"] for row in app.rows(stream) if row)
            for stream in ("located", "offers", "calls")
        }
    both = dict.fromkeys(SIDES, 9)
    assert written == {"located": both, "offers": {"north": 9}, "calls": {"south": 9}}


def test_a_stream_that_comes_back_through_another_system_is_read_there() -> None:
    streams = [
        {"name": "numbers", "system": HOME, "key": "n", "columns": "n INT"},
        {"name": "later", "system": OTHER, "key": "n", "columns": "n INT", "feedback": True},
        {"name": "ones", "system": HOME, "key": "n"},
    ]
    operators = [
        {"name": "all", "merge": {"from": ["numbers", "later"]}},
        {"name": "halved", "map": {"from": "all", "select": "n - 1 AS n"}},
        {"name": "larger", "filter": {"from": "halved", "where": "n > 1"}},
        {"name": "again", "sendTo": {"from": "larger", "stream": "later"}},
        {"name": "one", "filter": {"from": "halved", "where": "n = 1"}},
        {"name": "out", "sendTo": {"from": "one", "stream": "ones"}},
    ]
    counts = {"numbers": 1, "later": 1}
    with TestApp(
        _resource(streams=streams, operators=operators, tables=[], onBadRecord={}), partitions=counts
    ) as app:
        app.send("numbers", [{"n": 2}, {"n": 5}])
        assert app.rows("ones") == [{"n": 1}, {"n": 1}]


@pytest.mark.parametrize("index", [0, 1])
def test_settings_that_are_wrong_are_refused_at_their_system(tmp_path: Path, index: int) -> None:
    resource = _resource()
    system = resource["spec"]["systems"][index]
    system["kafka"]["configSecret"] = {"name": "client"}
    (tmp_path / system["name"]).mkdir()
    (tmp_path / system["name"] / "no.such.setting").write_text("x")
    (app,) = parse_data(resource).apps
    with pytest.raises(AppRefusedError) as refusal:
        open_app_systems(app, storage_of(app, tmp_path / "data", tmp_path))
    assert [problem.path for problem in refusal.value.problems] == [
        f"spec.systems[{index}].kafka.configSecret"
    ]


@pytest.mark.parametrize("moved", [False, True])
def test_the_home_cannot_change_and_the_order_of_systems_means_nothing(moved: bool) -> None:
    (before,), after = parse_data(_resource()).apps, _resource()
    systems = after["spec"]["systems"]
    if moved:
        systems[0]["home"], systems[1]["home"] = True, False
    after["spec"]["systems"] = systems[::-1]
    refused = paths_with_effect(changes(before, parse_data(after).apps[0]), Effect.REFUSED)
    assert bool(refused) is moved
    assert set(refused) <= {f"spec.systems[{name}].home" for name in (HOME, OTHER)}
