"""Writes the objects of some apps as they are today: `python -m tests.harness.operator.golden_objects`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    AcceptedGeneration,
    generation_config_map,
)
from streamapp_operator.reconciler.config_maps.config_map_objects import (
    job_model_config_map,
    report_config_map,
)
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.objects.app_revision import app_revision
from streamapp_operator.reconciler.objects.configuration_versions import configuration_annotation
from streamapp_operator.reconciler.objects.driver_objects import driver_objects
from streamapp_operator.reconciler.pods import embedded_log
from streamapp_operator.reconciler.pods.driver_pod import driver_pod
from streamapp_operator.reconciler.pods.pod_shape import pod_shape
from tests.harness.operator.small_apps import join

FOLDER = Path(__file__).parents[2] / "operator" / "reconciler" / "golden"
INSTALLATION = Installation(image="streamapp-runtime:1", host_path_roots=("/data",))

_EMBEDDED = {
    "processors": 1,
    "systems": [{"name": "main", "embedded": {"path": "./data"}}],
    "state": {
        "persistentVolumeClaim": {"size": "1Gi", "storageClassName": "fast"},
        "reclaimPolicy": "Delete",
    },
}
_TEMPLATE = {
    "metadata": {"annotations": {"team": "web"}},
    "spec": {
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "batch", "operator": "Exists"}],
        "containers": [{"name": "watcher", "image": "watcher:1"}, {"name": "driver", "envFrom": []}],
    },
}
_SECRET = {
    "systems": [
        {
            "name": "main",
            "kafka": {"bootstrapServers": "kafka:9093", "configSecret": {"name": "kafka-client"}},
        }
    ]
}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "claims": {"state": {"persistentVolumeClaim": {"size": "10Gi", "storageClassName": "fast"}}},
    "host-path": {"state": {"hostPath": {"path": "/data/state"}}},
    "embedded": _EMBEDDED,
    "with-all": {
        **_SECRET,
        "code": {"configMap": "code"},
        "env": [{"name": "LEVEL", "valueFrom": {"configMapKeyRef": {"name": "levels", "key": "level"}}}],
        "imagePullSecrets": [{"name": "pull"}],
        "driver": {
            "template": _TEMPLATE,
            "resources": {"limits": {"memory": "4Gi"}},
            "serviceAccountAnnotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/shop"},
        },
        "executor": {"resources": {"requests": {"cpu": "2"}, "limits": {"memory": "8Gi", "cpu": "2"}}},
    },
}


def manifest(**spec: Any) -> dict[str, Any]:
    """An app as the API server has it."""
    app = join(**spec)
    app["metadata"] |= {"namespace": "shop", "uid": "5b1c", "generation": 3}
    return app


def parsed(app: dict[str, Any]) -> StreamApp:
    (found,) = parse_data(app).apps
    return found


def objects(app: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All that is made for an app before its driver runs, and the driver."""
    read = parsed(app)
    made = pod_shape(read, INSTALLATION, app["metadata"]["uid"])
    yield from driver_objects(app, app["metadata"]["uid"], read, (made.executor,), network_rules=None)
    yield report_config_map(app)
    yield job_model_config_map(app, "{}", 0, 7, was_reset=False)
    if found := embedded_log.log_claim(app, read):
        yield found
    yield _opened(generation_config_map(app, AcceptedGeneration(AcceptedApp(read, 3, "5b1c"), made)))
    yield app_revision(app, 2, AcceptedApp(read, 3, "5b1c"), parsed(manifest()))
    versions = {"Secret kafka-client": "5c 7", "ConfigMap code": "5d 8", "Secret pull": "5e 9"}
    yield driver_pod(app, made.driver, 3, 7, configuration_annotation(read, versions))


def _opened(config_map: dict[str, Any]) -> dict[str, Any]:
    """With its data as one can read it."""
    data = {name: json.loads(text) for name, text in config_map["data"].items()}
    return {**config_map, "data": data}


def text(case: str) -> str:
    return yaml.safe_dump_all(objects(manifest(**CASES[case])), sort_keys=True, width=110)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        (FOLDER / f"{case}.yaml").write_text(text(case), encoding="utf-8")
