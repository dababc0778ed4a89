"""The operator and a driver that is its own author make the same models of the same app and inputs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from streamapp.author.model import KnownPlacement
from streamapp.author.monitoring import growth_interval
from streamapp.author.names import checkpoint_stream, processor_names
from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.model_content import content_hash
from streamapp.metadata.locality_manager import LocalityManager
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import DriverState, Report
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.config_maps.config_map_store import ConfigMapStore
from streamapp_operator.reconciler.config_maps.locality_draft import LocalityDraft
from streamapp_operator.reconciler.facts.facts import (
    AppFacts,
    ClusterFacts,
    DesiredModel,
    Facts,
    NewestGeneration,
    PublishedRun,
)
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.generation_plan import layout_basis, plan_generation
from streamapp_operator.reconciler.planning.model_update import model_update
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.draft import draft_model
from streamapp_runtime.driver.start.live_inputs import counts_of, live_inputs
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.systems.app_systems import Systems

STREAMS = {
    "views": "user STRING, n INT",
    "users": "user STRING, country STRING",
    "rates": "user STRING, rate DOUBLE",
}
"""What the app reads, with its columns."""
LOCATIONS = st.sampled_from(["node-a", "node-b", "node-c", None])
UID = "7d1c"

Made = tuple[JobModel, str, Layout]
"""A model, the hash of its content, and the layout to keep."""


@dataclass(frozen=True)
class Case:
    """An app, its inputs before and after a growth, and where everything is."""

    app: StreamApp
    counts: Mapping[str, int]
    grown: Mapping[str, int]
    task_locations: tuple[str | None, ...]
    processor_locations: tuple[str | None, ...]
    moved: tuple[int, ...]


OPERATORS: tuple[list[dict[str, Any]], ...] = (
    [{"name": "sink", "sendTo": {"from": "views", "stream": "out"}}],
    [
        {"name": "joined", "join": {"from": ["views", "users"], "within": "5m", "where": "true"}},
        {"name": "sink", "sendTo": {"from": "joined", "stream": "out"}},
    ],
    [
        {"name": "by-user", "partitionBy": {"from": "views", "key": "user"}},
        {"name": "counted", "aggregate": {"from": "by-user", "aggregates": "count(*) AS n"}},
        {"name": "sink", "sendTo": {"from": "counted", "stream": "out"}},
    ],
    [
        {"name": "joined", "joinTable": {"from": "views", "table": "known"}},
        {"name": "sink", "sendTo": {"from": "joined", "stream": "out"}},
    ],
)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    operators = draw(st.sampled_from(OPERATORS))
    spec: dict[str, Any] = {
        "processors": draw(st.integers(1, 12)),
        "grouper": draw(st.sampled_from(["partition", "streamPartition", "single"])),
        "placement": {"hostAffinity": draw(st.booleans())},
        "systems": [{"name": "main", "kafka": {"bootstrapServers": "broker:9092"}}],
        "streams": [
            *({"name": name, "system": "main", "key": "user", "columns": c} for name, c in STREAMS.items()),
            {"name": "out", "system": "main"},
        ],
        "operators": operators,
    }
    if "joinTable" in operators[0]:
        spec["tables"] = [{"name": "known", "sideInputs": [{"stream": "users"}]}]
    if draw(st.booleans()):
        spec["broadcastInputs"] = ["rates"]
        spec["operators"] = [*operators, {"name": "more", "sendTo": {"from": "rates", "stream": "out"}}]
    parsed = parse_data(
        {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "a"}, "spec": spec}
    )
    assert not parsed.problems, parsed.problems
    counts = {name: draw(st.integers(1, 8)) for name in STREAMS} | {"out": 2}
    grown = {
        name: count * draw(st.sampled_from([1, 1, 2, 3])) + draw(st.sampled_from([0, 0, 1]))
        for name, count in counts.items()
    }
    places = st.lists(LOCATIONS, min_size=12, max_size=12).map(tuple)
    moved = st.lists(st.integers(0, 11), min_size=3, max_size=3).map(tuple)
    return Case(parsed.apps[0], counts, grown, draw(places), draw(places), draw(moved))


def _operators_model(case: Case, facts: Facts, counts: Mapping[str, int | None]) -> Made | None:
    facts = replace(facts, cluster=ClusterFacts(counts={1: KnownCounts(counts)}))
    plan = plan_generation(facts, case.app, 1)
    update = model_update(facts, AcceptedApp(case.app, 1, UID), plan, replace_all=True)
    if isinstance(update, Refusal) or plan.assignment is None:
        return None
    assert update.wanted.model is not None and update.wanted.layout is not None
    return update.wanted.model, content_hash(update.wanted.model), update.wanted.layout


def _drivers_model(case: Case, context: AppContext, known: KnownPlacement, now: float) -> Made | None:
    names = processor_names(case.app.spec.processors)
    try:
        draft = draft_model(case.app, live_inputs(context, names, now), known)
    except AppRefusedError:
        return None
    return draft.model, content_hash(draft.model), draft.assignment.layout


@given(cases())
def test_both_make_the_same_models_of_an_app_when_it_starts_and_when_it_has_grown(case: Case) -> None:
    app, now = case.app, 1_000.0
    names = processor_names(app.spec.processors)
    first_facts = Facts(AppFacts({"metadata": {"name": "a", "uid": UID}}, NewestGeneration(1, app)), now)
    run = layout_basis(first_facts, app)[1]
    with TemporaryDirectory() as folder:
        storage = embedded_storage(Path(folder), app)
        systems = Systems(storage.systems)
        system = systems.home
        for name, count in case.counts.items():
            system.create(name, count)
        checkpoints = CheckpointStream(system, checkpoint_stream(app.application_id))
        context = AppContext(app, storage, systems, checkpoints, UserFunctions())
        # A driver counts what is there before it makes anything; so does the operator.
        counts = counts_of(app, systems)
        checkpoints.open(run)

        first = _operators_model(case, first_facts, counts)
        assert _drivers_model(case, context, KnownPlacement(), now) == first
        event(f"the app has {'a' if first else 'no'} model")
        if first is None:
            return
        model, _, layout = first
        checkpoints.remember(layout)
        for name, count in case.grown.items():
            system.grow(name, count)
        tasks = [task.name for task in model.tasks]
        tasks_at = dict(zip(tasks, cycle(case.task_locations), strict=False))
        processors_at = dict(zip(names, case.processor_locations, strict=False))
        moved = {tasks[number % len(tasks)]: names[number % len(names)] for number in case.moved}
        notes = LocalityDraft(None)
        locality = LocalityManager(ConfigMapStore(notes), run)
        locality.write_task_locality(tasks_at)
        locality.write_processor_locality(processors_at)
        published_run = PublishedRun(
            desired=DesiredModel(WantedState("", len(names), model, layout), "", "", 0, 1, was_reset=False),
            report=Report(
                DriverState.RUNNING, run_id=run, model_version=model.version, layout=layout, moved=moved
            ),
            locality=notes.read(),
        )
        facts = replace(first_facts, run=published_run)
        known = KnownPlacement(
            model=model,
            owners={name: model.owner(name) for name in tasks} | moved,
            task_locations=tasks_at,
            processor_locations=processors_at,
        )
        second = _operators_model(case, facts, counts_of(app, systems))
        assert _drivers_model(case, context, known, now) == second
        event(f"the grown app has {'a' if second else 'no'} model")
        system.close()


CONFIGS: tuple[dict[str, str], ...] = (
    {},
    {"job.coordinator.monitor-partition-change": "true"},
    {"job.coordinator.monitor-partition-change": "false"},
    {"job.coordinator.monitor-partition-change.frequency.ms": "7000"},
)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("monitor", [{}, {"enabled": False}, {"enabled": True, "interval": "1m"}])
def test_a_key_of_the_config_goes_before_the_field_of_the_monitor(
    config: dict[str, str], monitor: dict[str, Any]
) -> None:
    parsed = parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "a"},
            "spec": {
                "config": config,
                "monitor": monitor,
                "systems": [{"name": "main", "kafka": {"bootstrapServers": "broker:9092"}}],
                "streams": [{"name": "views", "system": "main"}, {"name": "out", "system": "main"}],
                "operators": [{"name": "sink", "sendTo": {"from": "views", "stream": "out"}}],
            },
        }
    )
    seconds = growth_interval(parsed.apps[0])
    key = config.get("job.coordinator.monitor-partition-change")
    watched = key == "true" if key else monitor.get("enabled", True)
    if not watched:
        assert seconds is None
    elif "job.coordinator.monitor-partition-change.frequency.ms" in config:
        assert seconds == 7
    else:
        assert seconds == (60 if "interval" in monitor else 300)
