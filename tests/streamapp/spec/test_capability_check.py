from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from streamapp.spec.parser import parse_data
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import Capability, Needs
from streamapp.spec.validation.error_messages import model_in
from tests.harness.core.sample_resource import changed, told

EVERY = frozenset(Capability)

# One value other than the default for each field that waits for its capability.
SET: dict[str, tuple[str, Any]] = {
    "Kafka.config": ("spec.systems[0].kafka.config", {"client.id": "x"}),
    "Embedded.sync": ("spec.systems[1].embedded.sync", True),
    "Stream.avroSchema": ("spec.streams[0].avroSchema", "{}"),
    "Stream.start": ("spec.streams[0].start", "latest"),
    "Stream.carriesWatermarks": ("spec.streams[0].carriesWatermarks", True),
    "EventTime.idleTimeout": ("spec.streams[0].eventTime.idleTimeout", "1m"),
    "EventTime.idleQuorum": ("spec.streams[0].eventTime.idleQuorum", 0.25),
    "PartitionBy.retention": ("spec.operators[1].partitionBy.retention", "1d"),
    "Placement.standbys": ("spec.placement.standbys", 1),
    "State.reclaimPolicy": ("spec.state.reclaimPolicy", "Delete"),
    "Spec.onPartitionChange": ("spec.onPartitionChange", "restart"),
    "Spec.onConfigurationChange": ("spec.onConfigurationChange", "restart"),
    "Spec.partitionSettle": ("spec.partitionSettle", "0s"),
    "Spec.monitor": ("spec.monitor", {"enabled": False}),
    "Spec.rebalanceDelay": ("spec.rebalanceDelay", "1m"),
    "Spec.delivery": ("spec.delivery", "atLeastOnce"),
    "Spec.onBadRecord": ("spec.onBadRecord", {"action": "skip"}),
    "Spec.onCodeError": ("spec.onCodeError", {"action": "skip"}),
    "Spec.onDataLoss": ("spec.onDataLoss", "earliest"),
    "Spec.stateChanges": ("spec.stateChanges", "accept"),
    "Spec.lateRows": ("spec.lateRows", {"action": "stream", "stream": "enriched"}),
    "Batch.rows": ("spec.batch.rows", 10),
    "Batch.bytes": ("spec.batch.bytes", 2_048),
    "Batch.timeout": ("spec.batch.timeout", "1m"),
    "Batch.interval": ("spec.batch.interval", "1s"),
    "Batch.latency": ("spec.batch.latency", "1s"),
    "Batch.independentLanes": ("spec.batch.independentLanes", False),
    "Spec.page": ("spec.page", {"enabled": True}),
    "Spec.autoscale": ("spec.autoscale", {"max": 4, "targetLag": 10_000}),
    "Spec.stateQueries": ("spec.stateQueries", {"enabled": True}),
    "Spec.logging": ("spec.logging", {"level": "debug"}),
    "Spec.image": ("spec.image", "shop/runtime:1"),
    "Spec.imagePullPolicy": ("spec.imagePullPolicy", "Always"),
    "Spec.imagePullSecrets": ("spec.imagePullSecrets", [{"name": "pull"}]),
    "Spec.code": ("spec.code", {"configMap": "code"}),
    "Spec.env": ("spec.env", [{"name": "A", "value": "b"}]),
    "Spec.serviceAccountName": ("spec.serviceAccountName", "driver"),
    "Spec.driver": ("spec.driver", {"resources": {"limits": {"cpu": "1"}}}),
    "Spec.executor": ("spec.executor", {"startTimeout": "1m"}),
    "Spec.network": ("spec.network", {"encryption": True}),
    "Spec.restartPolicy": ("spec.restartPolicy", {"type": "Never"}),
    "Spec.suspend": ("spec.suspend", True),
    "Spec.restartNonce": ("spec.restartNonce", 1),
    "Spec.resetNonce": ("spec.resetNonce", 1),
    "Spec.takeOver": ("spec.takeOver", True),
    "Spec.ttlSecondsAfterFinished": ("spec.ttlSecondsAfterFinished", 60),
    "Spec.revisionHistoryLimit": ("spec.revisionHistoryLimit", 3),
    "Spec.operatorClass": ("spec.operatorClass", "blue"),
}


def _waiting(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[tuple[str, Capability, Any]]:
    """Every field with a mark: its name, what it needs, its default."""
    for name, info in model.model_fields.items():
        marks = [mark for mark in info.metadata if isinstance(mark, Needs)]
        if marks:
            yield f"{model.__name__}.{info.alias or name}", marks[0].capability, info.get_default()
        inner = model_in(info.annotation)
        if inner and inner not in seen:
            seen.add(inner)
            yield from _waiting(inner, seen)


WAITING = {field: (capability, default) for field, capability, default in _waiting(StreamApp, set())}


def test_every_field_that_waits_for_a_capability_has_a_case_here() -> None:
    assert sorted(SET) == sorted(WAITING)


@pytest.mark.parametrize("field", sorted(SET))
def test_a_field_whose_capability_is_not_built_is_refused_at_its_path_and_never_ignored(field: str) -> None:
    path, value = SET[field]
    capability, _ = WAITING[field]
    (problem,) = parse_data(changed(path, value), EVERY - {capability}).problems
    assert problem.reason is Reason.NOT_YET_SUPPORTED
    assert str(problem) == (
        f"{path}: not yet supported: this version does not have {capability.value}; leave it out"
    )


@pytest.mark.parametrize("field", sorted(SET))
def test_a_field_that_says_its_default_is_accepted(field: str) -> None:
    path, _ = SET[field]
    default = WAITING[field][1]
    if isinstance(default, BaseModel):
        default = default.model_dump(mode="json", by_alias=True)
    elif isinstance(default, tuple):
        default = list(default)
    assert told(changed(path, default)) == []


@pytest.mark.parametrize("field", sorted(SET))
def test_a_field_whose_capability_is_built_is_accepted(field: str) -> None:
    path, value = SET[field]
    assert parse_data(changed(path, value), EVERY).problems == ()


@pytest.mark.parametrize("key", sorted(KEYS))
def test_a_setting_whose_capability_is_not_built_is_refused(key: str) -> None:
    value = next(text for text in ("true", "5000", "package.module:name") if KEYS[key].fits(text))
    built = EVERY - {KEYS[key].needs}
    (problem,) = parse_data(changed("spec.config", {key: value}), built).problems
    assert (problem.path, problem.reason) == (f"spec.config.{key}", Reason.NOT_YET_SUPPORTED)


def test_what_is_wrong_otherwise_is_told_beside_it() -> None:
    data = changed("spec.suspend", True, changed("spec.processors", 0))
    assert [str(problem) for problem in parse_data(data, EVERY - {Capability.CLUSTER}).problems] == [
        "spec.processors: found 0; at least 1 is allowed",
        "spec.suspend: not yet supported: this version does not have the operator; leave it out",
    ]
