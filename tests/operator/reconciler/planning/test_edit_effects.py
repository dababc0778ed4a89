"""Each field does on a cluster what its mark says that a change of it does."""

from typing import Any

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_changes import changes, strongest_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.schema.fields import parts
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

OPERATORS = join()["spec"]["operators"]
STREAMS = join()["spec"]["streams"]
TABLES = join()["spec"]["tables"]

EDITS: dict[str, Any] = {
    "spec.applicationId": None,  # the API server refuses it
    "spec.mode": {"mode": "batch"},
    "spec.processors": {"processors": 3},
    "spec.config": {"config": {"job.intermediate.stream.partitions": "4"}},
    "spec.systems": {"systems": [{"name": "main", "kafka": {"bootstrapServers": "other:9092"}}]},
    "spec.streams": {"streams": [{**STREAMS[0], "columns": "user STRING, page STRING, n INT"}, *STREAMS[1:]]},
    "spec.tables": {"tables": [*TABLES, {"name": "more", "columns": "a STRING"}]},
    "spec.operators": {
        "operators": [*OPERATORS, {"name": "w", "filter": {"from": "views", "where": "true"}}]
    },
    "spec.grouper": None,  # the API server refuses it
    "spec.broadcastInputs": {"broadcastInputs": ["views#0"]},
    "spec.placement": {"placement": {"hostAffinity": False}},
    "spec.state": {"state": {"persistentVolumeClaim": {"size": "1Gi"}}},
    "spec.onPartitionChange": {"onPartitionChange": "restart"},
    "spec.onConfigurationChange": {"onConfigurationChange": "restart"},
    "spec.partitionSettle": {"partitionSettle": "0s"},
    "spec.monitor": {"monitor": {"enabled": False}},
    "spec.rebalanceDelay": {"rebalanceDelay": "1m"},
    "spec.page": {"page": {"enabled": True}},
    "spec.autoscale": {"autoscale": {"max": 4, "targetLag": 10_000}},
    "spec.stateQueries": {"stateQueries": {"enabled": True}},
    "spec.logging": {"logging": {"sparkLevel": "info"}},
    "spec.delivery": {"delivery": "atLeastOnce"},
    "spec.onBadRecord": {"onBadRecord": {"action": "skip"}},
    "spec.onCodeError": {"onCodeError": {"action": "skip"}},
    "spec.onDataLoss": {"onDataLoss": "earliest"},
    "spec.stateChanges": {"stateChanges": "accept"},
    "spec.lateRows": {"lateRows": {"action": "stream", "stream": "enriched"}},
    "spec.outbox": {"outbox": {"maxRecords": 10}},
    "spec.batch": {"batch": {"rows": 10}},
    "spec.image": {"image": "other:2"},
    "spec.imagePullPolicy": {"imagePullPolicy": "Always"},
    "spec.imagePullSecrets": {"imagePullSecrets": [{"name": "pull"}]},
    "spec.code": {"code": {"configMap": "code"}},
    "spec.env": {"env": [{"name": "A", "value": "b"}]},
    "spec.serviceAccountName": None,  # this installation does not allow it
    "spec.driver": {"driver": {"sparkConf": {"spark.ui.retainedJobs": "1"}}},
    "spec.executor": {"executor": {"resources": {"requests": {"memory": "3Gi"}}}},
    "spec.network": {"network": {"encryption": True}},
    "spec.restartPolicy": {"restartPolicy": {"backoff": "1s"}},
    "spec.suspend": None,  # has tests of its own
    "spec.restartNonce": {"restartNonce": 1},
    "spec.resetNonce": {"resetNonce": 1},
    "spec.takeOver": {"takeOver": True},
    "spec.ttlSecondsAfterFinished": {"ttlSecondsAfterFinished": 5},
    "spec.revisionHistoryLimit": {"revisionHistoryLimit": 3},
    "spec.operatorClass": None,  # the API server refuses it
}


def app(**spec: Any) -> StreamApp:
    data = join(**spec)
    data["metadata"]["namespace"] = "shop"
    (found,) = parse_data(data).apps
    return found


def test_every_field_of_the_spec_has_an_edit_here() -> None:
    (spec,) = [part for part in parts() if part.path == "spec"]
    assert sorted(EDITS) == sorted(field.path for field in spec.fields)


def _built(field: str) -> bool:
    data = join(**EDITS[field])
    data["metadata"]["namespace"] = "shop"
    return not parse_data(data).problems


LIVE = {Effect.NONE, Effect.LIVE}
CASES = [field for field, edit in EDITS.items() if edit is not None and _built(field)]


@pytest.mark.parametrize("field", CASES)
def test_a_change_has_the_effect_that_is_marked(sim: OperatorSim, field: str) -> None:
    sim.bring_up(join())
    before = sim.model()
    effect = strongest_effect(changes(app(), app(**EDITS[field])))
    sim.edit(**EDITS[field])
    sim.settle()
    if effect is Effect.REFUSED:
        assert sim.says("Accepted") == ("False", "ChangeRefused")
        assert incarnation_in(sim.driver()) == 1
    elif effect in LIVE:
        assert sim.says("Accepted") == ("True", "Accepted")
        assert incarnation_in(sim.driver()) == 1
        sim.report()
        sim.settle()
        assert sim.condition("Ready")["observedGeneration"] == 2
    else:
        if "app-driver-1" in sim.names("pods"):
            assert sim.says("Progressing")[0] == "True"
            sim.remove("app-driver-1")
        sim.settle()
        assert incarnation_in(sim.driver()) == 2
        assert sim.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "2"
        assert sim.status()["driver"]["lastEnding"]["outcome"] == "stopped"
        assert sim.status()["driver"]["failures"] == 0
    assert (sim.model().run_id == before.run_id) == (field != "spec.resetNonce")


def test_the_driver_is_told_live_changes_with_its_job_model(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(batch={"rows": 10})
    sim.settle()
    assert '"rows":10' in sim.config_map("app-job-model")["data"]["accepted.json"]
