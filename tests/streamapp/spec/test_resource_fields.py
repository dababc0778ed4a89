"""The resource holds every field that the design names, each with what it means and what a change does."""

from streamapp.spec.parser import parse
from streamapp.spec.resource.status import Status
from streamapp.spec.schema.fields import parts

EXAMPLE = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: page-views}
spec:
  applicationId: shop.page-views
  mode: stream
  processors: 4
  config: {job.intermediate.stream.partitions: "16"}
  systems:
    - name: main
      kafka: {bootstrapServers: "kafka:9092", configSecret: {name: kafka-client}}
  streams:
    - {name: views, system: main, topic: page-views, format: json, key: user,
       columns: "user STRING, page STRING, ts TIMESTAMP", eventTime: {column: ts, delay: 5s}}
    - {name: users, system: main, format: json, key: user, columns: "user STRING, country STRING, tier INT"}
    - {name: enriched, system: main, format: json, key: user}
  tables:
    - {name: users, store: rocksdb, sideInputs: [{stream: users, bootstrap: true}]}
  operators:
    - {name: real,    filter:      {from: views, where: "page NOT LIKE '/health%'"}}
    - {name: by-user, partitionBy: {from: real, key: user}}
    - {name: joined,  joinTable:   {from: by-user, table: users, type: inner, select: "user, page, country"}}
    - {name: out,     sendTo:      {from: joined, stream: enriched}}
  placement: {hostAffinity: true, location: node}
  state: {persistentVolumeClaim: {size: 10Gi}}
  driver: {}
  executor: {}
  restartPolicy: {}
  suspend: false
"""

NAMED = (
    "apiVersion",
    "kind",
    "metadata.name",
    "spec.applicationId",
    "spec.mode",
    "spec.processors",
    "spec.config",
    "spec.systems[].name",
    "spec.systems[].kafka.bootstrapServers",
    "spec.systems[].kafka.configSecret.name",
    "spec.systems[].embedded.path",
    "spec.streams[].name",
    "spec.streams[].system",
    "spec.streams[].topic",
    "spec.streams[].format",
    "spec.streams[].key",
    "spec.streams[].columns",
    "spec.streams[].eventTime.column",
    "spec.streams[].eventTime.delay",
    "spec.streams[].start",
    "spec.tables[].name",
    "spec.tables[].store",
    "spec.tables[].remote",
    "spec.tables[].sideInputs[].stream",
    "spec.tables[].sideInputs[].bootstrap",
    "spec.tables[].sideInputs[].key",
    "spec.tables[].sideInputs[].value",
    "spec.tables[].maxStoreAge",
    "spec.tables[].broadcast",
    "spec.tables[].visibility",
    "spec.operators[].name",
    "spec.operators[].filter.where",
    "spec.operators[].map.select",
    "spec.operators[].map.python",
    "spec.operators[].flatMap.select",
    "spec.operators[].merge.from",
    "spec.operators[].partitionBy.key",
    "spec.operators[].partitionBy.partitions",
    "spec.operators[].broadcast.from",
    "spec.operators[].join.within",
    "spec.operators[].joinTable.table",
    "spec.operators[].joinTable.type",
    "spec.operators[].joinTable.select",
    "spec.operators[].sendToTable.table",
    "spec.operators[].aggregate.window.tumbling",
    "spec.operators[].aggregate.window.hopping",
    "spec.operators[].aggregate.window.session",
    "spec.operators[].process.python",
    "spec.operators[].sendTo.stream",
    "spec.placement.hostAffinity",
    "spec.placement.location",
    "spec.placement.standbys",
    "spec.state.persistentVolumeClaim.size",
    "spec.state.hostPath",
    "spec.state.emptyDir",
    "spec.state.reclaimPolicy",
    "spec.driver.resources",
    "spec.driver.template",
    "spec.driver.sparkConf",
    "spec.driver.lostTimeout",
    "spec.executor.resources",
    "spec.executor.template",
    "spec.executor.sparkConf",
    "spec.executor.startTimeout",
    "spec.restartPolicy",
    "spec.suspend",
    "spec.image",
    "spec.imagePullPolicy",
    "spec.imagePullSecrets",
    "spec.code",
    "spec.env",
    "spec.serviceAccountName",
    "spec.restartNonce",
    "spec.resetNonce",
    "spec.delivery",
    "spec.onBadRecord",
    "spec.onCodeError",
    "spec.onDataLoss",
    "spec.stateChanges",
    "spec.lateRows",
    "spec.grouper",
    "spec.broadcastInputs",
    "spec.onPartitionChange",
    "spec.partitionSettle",
    "spec.monitor",
    "spec.rebalanceDelay",
    "spec.ttlSecondsAfterFinished",
    "spec.operatorClass",
    "spec.takeOver",
)

STATUS = (
    "conditions observedGeneration acceptedGeneration phase plan jobModel tasks processors restarts driver"
)

FIELDS = {field.path: field for part in parts() for field in part.fields}


def test_the_example_of_the_design_is_an_app_as_it_stands() -> None:
    parsed = parse(EXAMPLE)
    assert parsed.problems == ()
    (app,) = parsed.apps
    assert app.application_id == "shop.page-views"
    assert [operator.kind for operator in app.spec.operators] == [
        "filter",
        "partitionBy",
        "joinTable",
        "sendTo",
    ]
    assert app.intermediate_stream("by-user") == "shop.page-views.by-user"


def test_the_application_id_is_made_of_namespace_and_name_when_unset() -> None:
    text = EXAMPLE.replace("  applicationId: shop.page-views\n", "")
    (app,) = parse(text.replace("{name: page-views}", "{name: page-views, namespace: shop}")).apps
    assert app.application_id == "shop.page-views"
    assert parse(text).apps[0].application_id == "default.page-views"


def test_every_field_that_the_design_names_is_there() -> None:
    assert [path for path in NAMED if path not in FIELDS] == []
    assert [name for name in STATUS.split() if name not in Status.model_json_schema()["properties"]] == []


def test_every_field_says_what_it_is_for_and_what_a_change_of_it_does() -> None:
    assert [path for path, field in FIELDS.items() if not field.says.endswith(".")] == []
    assert [
        path for path, field in FIELDS.items() if field.effect is None and path not in {"metadata", "spec"}
    ] == []
    assert [path for path, field in FIELDS.items() if not field.allowed] == []
