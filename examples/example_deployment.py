"""An example on a cluster: rows in topics, the app applied, outputs compared with what is expected."""

import json
import time
from collections.abc import Iterator
from typing import Any, Final

from examples.example_apps import ExampleApp, app_of, example, names
from examples.example_data import Row, rows_of
from examples.example_run import in_order, say_rows
from examples.trial_cluster import BROKER, TrialCluster
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data

NAMESPACE: Final = "examples"
LIMIT: Final = 300.0
"""Seconds from the apply to the last row, with images that are on the nodes."""
POLL: Final = 2.0
_LOG = f"kafka://{BROKER}"
_CODE = {".py", ".json"}


def deployable_names() -> list[str]:
    """The examples whose outputs are streams, and whole while the app runs."""
    return [name for name in names() if undeployable_reason(example(name)) is None]


def undeployable_reason(one: ExampleApp) -> str | None:
    """The reason why an example cannot be deployed, as what follows its name; None of one that can be."""
    apps = [app_of(source) for source in one.sources]
    if any(system.has_tables for app in apps for system in app.spec.systems):
        return "writes tables on this machine, which pods do not reach"
    bodies = [operator.body for app in apps for operator in app.spec.operators]
    if len(apps) > 1 or any(getattr(body, "window", None) is not None for body in bodies):
        return "has windows or several apps, whose last rows come when the streams end"
    return None


def deploy_example(one: ExampleApp, cluster: TrialCluster, rows: int, seed: int) -> bool:
    """Write rows, apply the app, and say whether the outputs come to be the expected rows."""
    app = app_of(one.sources[0])
    name = app.metadata.name
    _remove_earlier(cluster, app)
    events = [event for events in one.rounds(rows, seed) for event in events]
    cluster.say(f"\n== {len(events):,} rows\n")
    for stream, partitions in one.partitions.items():
        lines = "".join(f"{json.dumps(row)}\n" for row in rows_of(stream, events))
        key = app.spec.stream(stream).key
        keyed = ("--key", key) if key else ()
        counted = ("--partitions", str(partitions))
        target = (_LOG, _topic(name, stream))
        if lines:
            cluster.on_broker("streamapp", "log", "write", *target, *keyed, *counted, lines=lines)
        else:
            cluster.on_broker("streamapp", "log", "create", *target, *counted)
    cluster.say("\n== the app\n")
    for manifest in _manifests(one, app):
        cluster.kubectl("apply", "-f", "-", lines=json.dumps(manifest))
    begin = time.monotonic()
    expected = one.generator.expected([events])
    actual = _outputs(cluster, app, expected, begin + LIMIT)
    cluster.say(f"\n== after {time.monotonic() - begin:.1f} s\n")
    cluster.say(cluster.kubectl("-n", NAMESPACE, "get", "streamapp,pods"))
    verdicts = [say_rows(stream, actual[stream], expected[stream], cluster.say) for stream in expected]
    return all(verdicts)


def _topic(app: str, stream: str) -> str:
    """The topic of a stream: two examples may have streams of one name."""
    return f"{app}.{stream}"


def _remove_earlier(cluster: TrialCluster, app: StreamApp) -> None:
    """Delete what an earlier deployment has left, so that the outputs are of these rows."""
    name = app.metadata.name
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    cluster.kubectl("apply", "-f", "-", lines=json.dumps(namespace))
    cluster.kubectl("-n", NAMESPACE, "delete", "streamapp", name, "--ignore-not-found", "--timeout=3m")
    kept = (f"{name}.", f"{NAMESPACE}.{name}.")
    topics = ("kafka-topics", "--bootstrap-server", "localhost:9092")
    while earlier := [
        topic for topic in cluster.on_broker(*topics, "--list").split() if topic.startswith(kept)
    ]:
        for topic in earlier:
            cluster.on_broker(*topics, "--delete", "--if-exists", "--topic", topic)


def _manifests(one: ExampleApp, app: StreamApp) -> Iterator[dict[str, Any]]:
    """The app on the cluster's broker, after the code that it names."""
    name = app.metadata.name
    data = as_data(app)
    spec = data["spec"]
    spec["systems"] = [
        {"name": system["name"], "kafka": {"bootstrapServers": BROKER}} for system in spec["systems"]
    ]
    for stream in spec["streams"]:
        stream["topic"] = _topic(name, stream["name"])
    # A cluster on one machine: what the app asks for is what it uses when there is little to do.
    spec["driver"] = {"resources": {"requests": {"cpu": "100m", "memory": "1200Mi"}}}
    spec["executor"] = {"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}}
    files = [path for path in sorted(one.folder.iterdir()) if path.suffix in _CODE]
    code = [path for path in files if path.name != "generate.py" and not path.name.startswith("test_")]
    if code:
        spec["code"] = {"configMap": f"{name}-code"}
        texts = {path.name: path.read_text("utf-8") for path in code}
        metadata = {"name": f"{name}-code", "namespace": NAMESPACE}
        yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": texts}
    yield {**data, "metadata": {**data["metadata"], "namespace": NAMESPACE}}


def _outputs(
    cluster: TrialCluster, app: StreamApp, expected: dict[str, list[Row]], deadline: float
) -> dict[str, list[Row]]:
    """The rows of the outputs once they are the expected ones, or as they are when the time is over."""
    while True:
        actual = {stream: _read(cluster, app, stream) for stream in expected}
        equal = all(in_order(actual[stream]) == in_order(expected[stream]) for stream in expected)
        if equal or time.monotonic() > deadline:
            return actual
        _end_if_stalled(cluster, app.metadata.name)
        time.sleep(POLL)


def _read(cluster: TrialCluster, app: StreamApp, stream: str) -> list[Row]:
    topic = _topic(app.metadata.name, stream)
    lines = cluster.on_broker("streamapp", "log", "read", _LOG, topic, echo=False).splitlines()
    return [json.loads(line) for line in lines]


def _end_if_stalled(cluster: TrialCluster, name: str) -> None:
    status = json.loads(
        cluster.kubectl("-n", NAMESPACE, "get", "streamapp", name, "-o", "json", echo=False)
    ).get("status", {})
    for condition in status.get("conditions", ()):
        if condition["type"] == "Stalled" and condition["status"] == "True":
            raise SystemExit(f"{name} cannot run: {condition['message']}")
