"""A grouper and an expansion algorithm of the app's own, at the start and when a stream grows."""

import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from streamapp.author.proposal import PlanningInputs
from streamapp.metadata.file_store import FileMetadataStore
from streamapp.metadata.locality_manager import LocalityManager
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.modes.standalone import RunOptions, Standalone
from streamapp_runtime.driver.start.user_functions import load_user_functions, proposed
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.runs.app_runs import AppEnv, inputs
from tests.harness.runs.chained_app import chained, everything_once_and_in_order, numbered
from tests.harness.runs.growing_loop import Run

WAYS = "tests.harness.user_code.grouper_code"


def tasks(run: Run) -> dict[str, list[int]]:
    return {task: [part.index for part in parts] for task, parts in run.loop.launch.partitions.items()}


def refused(env: AppEnv, **spec: Any) -> Problem:
    with pytest.raises(AppRefusedError) as caught:
        env.launched(chained(**spec))
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize("name", ["halves", "Halves"])
def test_tasks_are_formed_as_the_app_says_and_a_growth_follows_the_keys(env: AppEnv, name: str) -> None:
    env.write("events", inputs(numbered(0, 4), "user"), 3)
    run = Run.start(env, chained(grouper=f"{WAYS}:{name}"))
    assert tasks(run) == {"east": [0, 2], "west": [1]}
    run.to_the_end()
    env.grow("events", 6)
    env.write("events", inputs(numbered(4, 8), "user"), 6)
    assert run.review()
    assert tasks(run) == {"east": [0, 2, 3, 5], "west": [1, 4]}
    run.to_the_end()
    everything_once_and_in_order(env, 8)


def test_a_grouper_that_leaves_out_a_partition_is_refused_at_the_start(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 2)
    problem = refused(env, grouper=f"{WAYS}:forgetful")
    assert (problem.path, problem.reason) == ("spec.grouper", Reason.GROUPER_INVALID)
    assert "left out events#0" in problem.message


@pytest.mark.parametrize("name", ["absent", "WAYS", "nowhere.at_all:f"])
def test_code_that_is_not_there_is_refused_with_the_field_that_names_it(env: AppEnv, name: str) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 2)
    python = name if ":" in name else f"{WAYS}:{name}"
    assert refused(env, grouper=python).path == "spec.grouper"
    problem = refused(env, config={ALGORITHM: python})
    assert (problem.path, problem.reason) == (f"spec.config.{ALGORITHM}", Reason.USER_CODE_FAILED)


BAD_GROUPERS = {
    "raising": f"raised LookupError: no region is known (in raising of {WAYS}, line ",
    "listed": "which is no mapping of tasks to partitions",
    "twice": "gave events#0 to east and once more to west",
    "forgetful": "left out events#0",
    "moody": "gave another answer when it was called again with the same arguments",
}


@pytest.mark.parametrize("name", BAD_GROUPERS)
def test_a_grouper_that_breaks_its_contract_is_refused_before_spark_starts(tmp_path: Path, name: str) -> None:
    with closing(EmbeddedSystem(tmp_path / "data")) as system:
        system.create("events", 2)
    mode = Standalone(chained(grouper=f"{WAYS}:{name}"), RunOptions(1, tmp_path / "data"))
    with pytest.raises(AppRefusedError) as caught:
        mode.refuse_early(mode.storage())
    (problem,) = caught.value.problems
    assert (problem.path, problem.reason) == ("spec.grouper", Reason.GROUPER_INVALID)
    assert BAD_GROUPERS[name] in problem.message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("numbered_place", "gave 7, and a location is a text that is not empty, or None"),
        ("unlabelled_place", f"raised KeyError: 'rack' (in unlabelled_place of {WAYS}, line "),
        ("moody_place", "gave another answer when it was called again with the same arguments"),
    ],
)
def test_a_provider_that_tells_no_location_is_refused_before_spark_starts(
    tmp_path: Path, name: str, text: str
) -> None:
    app = chained(placement={"location": f"{WAYS}:{name}"})
    mode = Standalone(app, RunOptions(1, tmp_path / "data"), host="rack-7-node-2")
    with pytest.raises(AppRefusedError) as caught:
        mode.refuse_early(mode.storage())
    (problem,) = caught.value.problems
    assert (problem.path, problem.reason) == ("spec.placement.location", Reason.LOCATION_PROVIDER_INVALID)
    assert problem.message.startswith("asked for rack-7-node-2, the location provider ")
    assert text in problem.message


@pytest.mark.usefixtures("process")
def test_a_run_remembers_its_tasks_at_the_location_that_the_app_tells(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 2)
    app = chained(placement={"location": f"{WAYS}:one_rack"})
    run = subprocess.run(env.command(app, "--until-end"), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    (folder,) = (env.data / "places").iterdir()
    store = FileMetadataStore(folder)
    (run_id,) = {key.decode().removeprefix("model/") for key in store.all() if key.startswith(b"model/")}
    assert set(LocalityManager(store, run_id).read_task_locality().values()) == {"rack-7"}


def test_a_grouper_that_does_not_answer_is_refused_and_named() -> None:
    app = chained(grouper=f"{WAYS}:endless")
    functions = load_user_functions(app)
    with pytest.raises(AppRefusedError) as caught:
        proposed(app, PlanningInputs({"events": 2}, grouper=functions.grouper), seconds=0.1)
    (problem,) = caught.value.problems
    assert (problem.path, problem.reason) == ("spec.grouper", Reason.USER_CODE_FAILED)
    assert problem.message == f"{WAYS}:endless did not answer within 0.1 s; have it return"


def test_new_partitions_go_where_the_apps_algorithm_says(env: AppEnv) -> None:
    env.write("events", inputs(numbered(0, 1), "user"), 2)
    run = Run.start(env, chained(config={ALGORITHM: f"{WAYS}:from_the_last"}))
    run.to_the_end()
    env.grow("events", 5)
    assert run.review()
    assert tasks(run) == {"Partition 0": [0, 3], "Partition 1": [1, 2, 4]}


def test_an_algorithm_that_breaks_its_contract_is_refused_when_it_does_and_the_app_goes_on(
    env: AppEnv,
) -> None:
    env.write("events", inputs(numbered(0, 2), "user"), 2)
    run = Run.start(env, chained(config={ALGORITHM: f"{WAYS}:wild"}))
    run.to_the_end()
    env.write("events", inputs(numbered(2, 4), "user"), 2)
    env.grow("events", 4)
    assert run.review() == []
    assert [one.reason for one in run.author.warnings] == [Reason.EXPANSION_ALGORITHM_INVALID]
    run.to_the_end()
    everything_once_and_in_order(env, 4)
