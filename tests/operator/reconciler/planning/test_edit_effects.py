"""Each field does on a cluster what its mark says that a change of it does."""

from typing import Any

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_changes import changes, strongest_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.schema.fields import parts
from tests.harness.operator.reconcile_stage import Stage
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
    "spec.onPartitionChange": {"onPartitionChange": "live"},
    "spec.partitionSettle": {"partitionSettle": "0s"},
    "spec.monitor": {"monitor": {"enabled": False}},
    "spec.rebalanceDelay": {"rebalanceDelay": "1m"},
    "spec.delivery": {"delivery": "atLeastOnce"},
    "spec.onBadRecord": {"onBadRecord": {"action": "skip"}},
    "spec.onCodeError": {"onCodeError": {"action": "skip"}},
    "spec.onDataLoss": {"onDataLoss": "earliest"},
    "spec.lateRows": {"lateRows": {"action": "stream", "stream": "enriched"}},
    "spec.batch": {"batch": {"rows": 10}},
    "spec.image": {"image": "other:2"},
    "spec.imagePullPolicy": {"imagePullPolicy": "Always"},
    "spec.imagePullSecrets": {"imagePullSecrets": [{"name": "pull"}]},
    "spec.code": {"code": {"configMap": "code"}},
    "spec.env": {"env": [{"name": "A", "value": "b"}]},
    "spec.serviceAccountName": None,  # this installation does not allow it
    "spec.driver": {"driver": {"sparkConf": {"spark.ui.retainedJobs": "1"}}},
    "spec.executor": {"executor": {"resources": {"requests": {"memory": "3Gi"}}}},
    "spec.restartPolicy": {"restartPolicy": {"backoff": "1s"}},
    "spec.suspend": None,  # has tests of its own
    "spec.restartNonce": {"restartNonce": 1},
    "spec.resetNonce": {"resetNonce": 1},
    "spec.takeOver": {"takeOver": True},
    "spec.ttlSecondsAfterFinished": {"ttlSecondsAfterFinished": 5},
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
def test_a_change_has_the_effect_that_is_marked(stage: Stage, field: str) -> None:
    stage.bring_up(join())
    before = stage.model()
    effect = strongest_effect(changes(app(), app(**EDITS[field])))
    stage.edit(**EDITS[field])
    stage.settle()
    if effect is Effect.REFUSED:
        assert stage.says("Accepted") == ("False", "ChangeRefused")
        assert incarnation_in(stage.driver()) == 1
    elif effect in LIVE:
        assert stage.says("Accepted") == ("True", "Accepted")
        assert incarnation_in(stage.driver()) == 1
        assert stage.condition("Ready")["observedGeneration"] == 2
    else:
        if "app-driver-1" in stage.names("pods"):
            assert stage.says("Progressing")[0] == "True"
            stage.remove("app-driver-1")
        stage.settle()
        assert incarnation_in(stage.driver()) == 2
        assert stage.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "2"
        assert stage.status()["driver"]["lastEnding"]["outcome"] == "stopped"
        assert stage.status()["driver"]["failures"] == 0
    assert (stage.model().run_id == before.run_id) == (field != "spec.resetNonce")


def test_the_driver_is_told_live_changes_with_its_job_model(stage: Stage) -> None:
    stage.bring_up(join())
    stage.edit(batch={"rows": 10})
    stage.settle()
    assert '"rows":10' in stage.config_map("app-job-model")["data"]["accepted.json"]
