import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
Example = Callable[[str], Path]

NODES = "processor-0: node-a\nprocessor-1: node-a\nprocessor-2: node-b\nprocessor-3: node-c\n"


@pytest.fixture
def page_views(example: Example) -> list[str | Path]:
    folder = example("page-views")
    return [folder / "app.yaml", "--catalog", folder / "topics.yaml"]


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    file = tmp_path / "nodes.yaml"
    file.write_text(NODES)
    return file


@pytest.fixture
def placed(run: Run, page_views: list[str | Path], nodes: Path, tmp_path: Path) -> Path:
    """Eight tasks on four processors of three nodes, as an earlier answer."""
    answer = tmp_path / "before.json"
    answer.write_text(run("place", *page_views, "--processors", nodes, "-o", "json").output)
    return answer


def test_a_stream_that_grows_from_8_to_16_keeps_its_tasks(
    run: Run, page_views: list[str | Path], placed: Path
) -> None:
    result = run("tasks", *page_views, "--set", "users=16", "--previous", placed)
    assert result.exit_code == 0
    assert (
        "users grew from 8 to 16 partitions: each new partition went to the task that held" in result.output
    )
    assert "users#3,11*" in result.output
    after = json.loads(
        run("tasks", *page_views, "--set", "users=16", "--previous", placed, "-o", "json").output
    )
    assert len(after["tasks"]) == 8
    assert after["grown"] == [{"stream": "users", "before": 8, "after": 16, "parting": "exact"}]


def test_a_growth_that_would_part_keys_from_their_state_is_refused_and_mended(
    run: Run, page_views: list[str | Path], placed: Path
) -> None:
    result = run("tasks", *page_views, "--set", "users=12", "--previous", placed)
    assert result.exit_code == 1
    assert "refused, ExpansionNotMultiple" in result.output
    assert "To fix it: give it 16 partitions" in result.output
    told = json.loads(
        run("tasks", *page_views, "--set", "users=12", "--previous", placed, "-o", "json").output
    )
    assert told["outcome"] == "refused"
    assert told["refusal"]["path"] == "users"


def test_a_stream_that_only_goes_through_a_repartition_may_grow_to_any_count(
    run: Run, page_views: list[str | Path], placed: Path
) -> None:
    grown = ["tasks", *page_views, "--set", "views=11", "--previous", placed]
    result = run(*grown)
    assert result.exit_code == 0
    assert "views grew from 8 to 11 partitions: partitions exchanged keys" in result.output
    after = json.loads(run(*grown, "-o", "json").output)
    assert len(after["tasks"]) == 8
    assert after["grown"] == [{"stream": "views", "before": 8, "after": 11, "parting": "mixed"}]
    smaller = run("tasks", *page_views, "--set", "views=7", "--previous", placed)
    assert (smaller.exit_code, "ExpansionShrinks" in smaller.output) == (1, True)


def test_when_a_node_dies_only_its_tasks_move(
    run: Run, page_views: list[str | Path], placed: Path, nodes: Path
) -> None:
    nodes.write_text(NODES.replace("processor-3: node-c\n", ""))
    result = run("place", *page_views, "--processors", nodes, "--previous", placed)
    assert result.exit_code == 0
    assert "moved to another place   2; the least that balanced loads allow is 2" in result.output
    assert "moved: no processor is at its location" in result.output


def test_when_four_processors_become_five_no_state_moves_and_three_processors_notice_nothing(
    run: Run, page_views: list[str | Path], placed: Path, nodes: Path
) -> None:
    nodes.write_text(NODES + "processor-4: node-c\n")
    answer = run("place", *page_views, "--processors", nodes, "--previous", placed, "-o", "json").output
    after = json.loads(answer)
    assert after["counts"]["locationMoves"] == 0
    assert after["counts"]["onLocation"] == after["counts"]["mostOnLocation"] == 8
    assert after["untouched"] == ["processor-0", "processor-1", "processor-2"]


def test_when_a_node_comes_back_the_tasks_return_that_have_left_their_stores_there(
    run: Run, page_views: list[str | Path], placed: Path, nodes: Path
) -> None:
    before = json.loads(placed.read_text())
    for without in ("processor-2: node-b\n", "processor-3: node-c\n"):
        for text in (NODES.replace(without, ""), NODES):
            nodes.write_text(text)
            place = ("place", *page_views, "--processors", nodes, "--previous", placed)
            moves, answer = run(*place).output, run(*place, "-o", "json").output
            placed.write_text(answer)
        assert "returned: to where it has left a store" in moves
        assert json.loads(answer)["processors"] == before["processors"]
    tasks = json.loads(answer)["tasks"]
    at_home = before["processors"]["processor-0"]["tasks"]
    assert all(tasks[task]["left"] == [] for task in at_home)
    assert all(len(entry["left"]) == 1 for task, entry in tasks.items() if entry["processor"][-1] in "23")


def test_placing_again_changes_nothing(
    run: Run, page_views: list[str | Path], placed: Path, nodes: Path
) -> None:
    again = json.loads(
        run("place", *page_views, "--processors", nodes, "--previous", placed, "-o", "json").output
    )
    assert again["processors"] == json.loads(placed.read_text())["processors"]
    assert len(again["untouched"]) == 4


def test_the_apps_own_number_of_processors_is_taken(run: Run, page_views: list[str | Path]) -> None:
    assert "8 tasks on 4 processors" in run("place", *page_views).output


def test_no_processor_is_refused(run: Run, page_views: list[str | Path]) -> None:
    result = run("place", *page_views, "--processors", "0")
    assert result.exit_code == 1
    assert "NoProcessors" in result.output


def test_an_app_whose_plan_is_rejected_shows_the_plan(run: Run, example: Example) -> None:
    folder = example("mismatch")
    for verb in ("tasks", "place"):
        result = run(verb, folder / "app.yaml", "--catalog", folder / "topics.yaml")
        assert result.exit_code == 1
        assert "JoinPartitionMismatch" in result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "this is no JSON"),
        ("[]", "allowed is what `tasks -o json` or `place -o json` prints"),
        ('{"kind": "tasks", "version": 2}', "found the number 2; this version reads version 1"),
        ('{"kind": "tasks", "version": 1, "outcome": "refused"}', "found an answer that was refused"),
        ('{"kind": "tasks", "version": 1, "outcome": "accepted"}', "layout: it cannot be read"),
    ],
)
def test_a_previous_answer_that_is_none_is_wrong_use(
    run: Run, page_views: list[str | Path], tmp_path: Path, text: str, said: str
) -> None:
    answer = tmp_path / "before.json"
    answer.write_text(text)
    result = run("tasks", *page_views, "--previous", answer)
    assert result.exit_code == 2
    assert said in result.output


def test_a_changed_layout_is_not_trusted(run: Run, page_views: list[str | Path], placed: Path) -> None:
    document = json.loads(placed.read_text())
    document["layout"]["layout"]["run"] = "another"
    placed.write_text(json.dumps(document))
    result = run("tasks", *page_views, "--previous", placed)
    assert result.exit_code == 2
    assert "its checksum differs" in result.output


@pytest.mark.parametrize("text", ["7", "a: [1]", "- 1", "{"])
def test_a_file_that_tells_no_processors_is_wrong_use(
    run: Run, page_views: list[str | Path], nodes: Path, text: str
) -> None:
    nodes.write_text(text)
    assert run("place", *page_views, "--processors", nodes).exit_code == 2


def test_a_users_own_grouper_and_algorithm_are_loaded_from_where_the_command_runs(
    run: Run, page_views: list[str | Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_grouping.py").write_text(
        "def pairs(previous, partitions):\n"
        "    found = {}\n"
        "    for p in partitions:\n"
        "        found.setdefault(f'pair {p.index // 2}', []).append(p)\n"
        "    return found\n"
    )
    monkeypatch.chdir(tmp_path)
    text = Path(page_views[0]).read_text().replace("processors: 4", "grouper: mine_grouping:pairs")
    rest = page_views[1:]
    assert "page-views: 4 tasks" in run("tasks", "-", *rest, given=text).output
    missing = run("tasks", "-", *rest, given=text.replace(":pairs", ":pears"))
    assert missing.exit_code == 2
    assert "spec.grouper: cannot load mine_grouping:pears" in missing.output


@pytest.mark.parametrize("verb", ["plan", "tasks", "place"])
@pytest.mark.parametrize("views", ["views", "views#[0-7]"])
def test_an_app_whose_inputs_all_go_to_every_task_is_refused_by_every_command(
    run: Run, verb: str, views: str
) -> None:
    text = f"""
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {{name: copies}}
spec:
  systems: [{{name: main, kafka: {{bootstrapServers: "kafka:9092"}}}}]
  streams: [{{name: views, system: main}}, {{name: enriched, system: main}}]
  broadcastInputs: ["{views}"]
  operators: [{{name: out, sendTo: {{from: views, stream: enriched}}}}]
"""
    result = run(verb, "-", "--set", "views=8", given=text)
    assert result.exit_code == 1
    words = " ".join(result.output.split())
    assert "spec.broadcastInputs" in words
    assert "all inputs (views) go to every task" in words
    assert "leave an input out" in words


def test_a_plan_says_that_one_task_leaves_processors_idle(run: Run, page_views: list[str | Path]) -> None:
    text = Path(page_views[0]).read_text().replace("processors: 4", "processors: 4\n  grouper: single")
    rest = page_views[1:]
    planned = run("plan", "-", *rest, given=text)
    assert planned.exit_code == 0
    assert "one of the 4 processors runs it, and the other 3 are idle" in " ".join(planned.output.split())
    placed = json.loads(run("place", "-", *rest, "-o", "json", given=text).output)
    assert list(placed["tasks"]) == ["Task-0"]
    assert sorted(len(entry["tasks"]) for entry in placed["processors"].values()) == [0, 0, 0, 1]
