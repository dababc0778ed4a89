"""What a CEL rule refuses the resource's own checks refuse too, and the largest resource is affordable."""

from copy import deepcopy
from typing import Any

import pytest

from streamapp.author.app_rules import app_problems
from streamapp.author.not_supported import not_supported
from streamapp.spec.parser import parse_data
from streamapp.spec.schema.cel_rules import RULES
from tests.harness.api_server.api_server import ApiServer

Data = dict[str, Any]

BASE: Data = {
    "apiVersion": "streamapp.dev/v1alpha1",
    "kind": "StreamApp",
    "metadata": {"name": "app"},
    "spec": {
        "systems": [{"name": "main", "kafka": {"bootstrapServers": "kafka:9092"}}],
        "streams": [
            {"name": "views", "system": "main", "key": "user", "columns": "user STRING, page STRING"},
            {"name": "users", "system": "main", "key": "user", "columns": "user STRING, age INT"},
            {"name": "letters", "system": "main"},
            {"name": "out", "system": "main"},
        ],
        "tables": [
            {"name": "users", "sideInputs": [{"stream": "users"}]},
            {"name": "seen", "columns": "user STRING"},
        ],
        "operators": [
            {"name": "real", "filter": {"from": "views", "where": "page <> ''"}},
            {"name": "lines", "map": {"from": "real", "select": "user, page"}},
            {"name": "words", "flatMap": {"from": "lines", "select": "user, explode(array(page)) AS w"}},
            {"name": "named", "joinTable": {"from": "lines", "table": "users"}},
            {"name": "total", "aggregate": {"from": "named", "aggregates": "count(*) AS n"}},
            {"name": "pairs", "join": {"from": ["lines", "real"], "within": "1m"}},
            {"name": "step", "process": {"from": "lines", "python": "a:B", "tables": ["seen"]}},
            {"name": "keep", "sendToTable": {"from": "lines", "table": "seen"}},
            {"name": "write", "sendTo": {"from": "total", "stream": "out"}},
        ],
        "broadcastInputs": ["views#[0-1]"],
    },
}
OPERATORS = {entry["name"]: place for place, entry in enumerate(BASE["spec"]["operators"])}
PYTHON = {"python": "a:f"}


def spec(**fields: Any) -> Data:
    data = deepcopy(BASE)
    data["spec"] |= fields
    return data


def operator(name: str, **fields: Any) -> Data:
    data = deepcopy(BASE)
    entry = data["spec"]["operators"][OPERATORS[name]]
    kind = next(key for key in entry if key != "name")
    entry[kind] = {key: value for key, value in (entry[kind] | fields).items() if value is not None}
    return data


def in_batches(data: Data) -> Data:
    data["spec"]["mode"] = "batch"
    return data


def homes() -> Data:
    data = deepcopy(BASE)
    systems = [{"name": name, "home": True, "embedded": {"path": name}} for name in ("one", "two")]
    data["spec"]["systems"] += systems
    return data


def tables(**fields: Any) -> Data:
    """A stream that is a table of a database."""
    data = deepcopy(BASE)
    shop = {"servers": "db:5432", "database": "shop"}
    data["spec"]["systems"].append({"name": "shop", "postgres": shop, **fields})
    return data


def stream(**fields: Any) -> Data:
    data = deepcopy(BASE)
    data["spec"]["streams"][0] |= fields
    return data


def table(**fields: Any) -> Data:
    data = deepcopy(BASE)
    data["spec"]["tables"][0] |= fields
    return data


def side_input(**fields: Any) -> Data:
    return table(sideInputs=[{"stream": "users", **fields}])


def another(entry: Data, part: str = "operators") -> Data:
    data = deepcopy(BASE)
    data["spec"][part].append(entry)
    return data


REFUSED: list[tuple[str, str, Data]] = [
    ("Map", "takes either select or python", operator("lines", **PYTHON, columns="a INT")),
    ("FlatMap", "takes either select or python", operator("words", select=None)),
    ("Map", "python and columns go together", operator("lines", select=None, **PYTHON)),
    ("FlatMap", "python and columns go together", operator("words", columns="a INT")),
    ("Aggregate", "running totals have no end", operator("total", emit="onWatermark")),
    ("Stream", "avroSchema goes with", stream(avroSchema="{}")),
    ("Stream", "registry goes with format avro", stream(registry=True, format="bytes")),
    ("Stream", "registry goes with format avro", stream(registry=True, carriesWatermarks=True)),
    ("Stream", "schemas of Debezium say", stream(format="debezium", registry=True, decimals="text")),
    ("Stream", "format protobuf goes with registry", stream(format="protobuf")),
    ("Stream", "writerSchema goes with registry", stream(writerSchema={})),
    ("WriterSchema", "id goes without", stream(writerSchema={"id": 7, "autoRegister": True})),
    ("Spec", "registry needs kafka.schemaRegistry", stream(registry=True, format="avro")),
    ("Spec", "primaryKey goes with streams of", stream(primaryKey=["user"])),
    ("Spec", "partitions and refresh go with streams of", stream(partitions=4)),
    ("System", "a system of tables cannot be the home", tables(home=True)),
    ("Spec", "one system has streams", spec(systems=[tables()["spec"]["systems"][1] | {"name": "main"}])),
    ("Stream", "timestamps as numbers go with", stream(timestamps="seconds", format="columns")),
    ("Stream", "timestamps as numbers go with", stream(timestamps="seconds", carriesWatermarks=True)),
    ("Stream", "strict goes with", stream(strict=True, format="string")),
    ("Stream", "decimals and flattened go with", stream(decimals="text")),
    ("Stream", "csv goes with", stream(csv={"delimiter": ";"})),
    ("CsvSigns", "delimiter and quote are two", stream(format="csv", csv={"quote": ","})),
    ("CsvSigns", "delimiter and quote are two", stream(format="csv", csv={"nullText": "a,b"})),
    ("Stream", "decimals and flattened go with", stream(flattened=True, format="avro")),
    ("Stream", "seconds go without format", stream(format="debezium", timestamps="seconds")),
    ("Stream", "isostring with it alone", stream(timestamps="isostring")),
    ("Stream", "carriesWatermarks goes with", stream(carriesWatermarks=True, format="columns")),
    (
        "Stream",
        "carriesWatermarks goes with",
        stream(carriesWatermarks=True, columns="user STRING, ts TIMESTAMP", eventTime={"column": "ts"}),
    ),
    ("Table", "a remote table has no side inputs", table(remote={"python": "a:T"})),
    ("Table", "a broadcast table is filled", another({"name": "t", "broadcast": True}, "tables")),
    ("Table", "a table of side inputs has no changelog", table(changelog=True)),
    (
        "Table",
        "visibility: sameBatch goes without versions",
        table(visibility="sameBatch", sideInputs=[{"stream": "users", "versions": "nullKey"}]),
    ),
    ("SideInput", "python goes without key and value", side_input(**PYTHON, key="user")),
    ("SideInput", "python goes without key and value", side_input(**PYTHON, value="user")),
    ("BadRecords", "deadLetter needs the stream", spec(onBadRecord={"action": "deadLetter"})),
    ("CodeErrors", "deadLetter needs the stream", spec(onCodeError={"action": "deadLetter"})),
    ("LateRows", "stream needs the stream", spec(lateRows={"action": "stream"})),
    (
        "EnvVar",
        "takes either value or valueFrom",
        spec(env=[{"name": "A", "value": "", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
    ),
    ("Driver", "settings of Spark begin with", spec(driver={"sparkConf": {"sparks.x": "1"}})),
    ("Executor", "settings of Spark begin with", spec(executor={"sparkConf": {"hadoop.x": "1"}})),
    ("Driver", "names of annotations", spec(driver={"serviceAccountAnnotations": {"a b": "1"}})),
    ("Executor", "names of annotations", spec(executor={"serviceAccountAnnotations": {"A/b": "1"}})),
    ("Driver", "standbyExecutors needs driver.standby", spec(driver={"standbyExecutors": True})),
    (
        "Spec",
        "driver.standbyExecutors goes without",
        spec(
            driver={"standby": True, "standbyExecutors": True},
            state={"persistentVolumeClaim": {"size": "1Gi"}},
        ),
    ),
    (
        "State",
        "takes one kind of volume",
        spec(state={"persistentVolumeClaim": {"size": "1Gi"}, "emptyDir": {}}),
    ),
    (
        "Spec",
        "goes without serviceAccountName",
        spec(serviceAccountName="a", driver={"serviceAccountAnnotations": {"a/b": "1"}}),
    ),
    ("Spec", "placement.location volume needs", spec(placement={"location": "node+volume"})),
    ("Spec", "config has settings that are not known", spec(config={"job.name": "x"})),
    ("Spec", "each stream is of a system", stream(system="other")),
    ("Spec", "one system is the home", homes()),
    ("System", "a system is of one kind", another({"name": "none", "home": False}, "systems")),
    (
        "Spec",
        "share one set of names",
        another({"name": "views", "filter": {"from": "users", "where": "true"}}),
    ),
    ("Spec", "each from names", operator("real", **{"from": "veiws"})),
    ("Spec", "each from names", operator("pairs", **{"from": ["lines", "nobody"]})),
    ("Spec", "each from names", operator("write", **{"from": "nobody"})),
    ("Spec", "each sendTo names a stream", operator("write", stream="nobody")),
    ("Spec", "each operator's table is in tables", operator("named", table="nobody")),
    ("Spec", "each operator's table is in tables", operator("keep", table="nobody")),
    ("Spec", "each operator's table is in tables", operator("step", tables=["seen", "nobody"])),
    ("Spec", "each side input names a stream", side_input(stream="nobody")),
    (
        "Spec",
        "onBadRecord, onCodeError and lateRows",
        spec(onBadRecord={"action": "deadLetter", "stream": "nobody"}),
    ),
    (
        "Spec",
        "onBadRecord, onCodeError and lateRows",
        spec(lateRows={"action": "stream", "stream": "nobody"}),
    ),
    ("Spec", "each of broadcastInputs", spec(broadcastInputs=["views", "nobody#1"])),
]
TAKEN: list[Data] = [
    BASE,
    operator("lines", select=None, **PYTHON, columns="a INT"),
    in_batches(operator("total", emit="onWatermark", window={"tumbling": {"size": "1m"}})),
    stream(timestamps="seconds"),
    stream(strict=True),
    stream(format="csv", csv={"delimiter": "|", "quote": "'", "nullText": "-"}),
    stream(format="debezium", timestamps="microseconds", decimals="base64", flattened=True),
    stream(format="debezium", timestamps="nanoseconds"),
    stream(carriesWatermarks=True),
    table(remote={"python": "a:T"}, sideInputs=[]),
    table(broadcast=True),
    table(changelog=False),
    table(visibility="sameBatch"),
    stream(carriesWatermarks=False, format="columns"),
    table(visibility="sameBatch", maxStoreAge="2h"),
    table(remote={"python": "a:T", "onUnavailable": "asMissing"}, sideInputs=[]),
    side_input(**PYTHON),
    spec(onBadRecord={"action": "deadLetter", "stream": "letters"}),
    spec(onCodeError={"action": "skip"}, lateRows={"action": "stream", "stream": "letters"}),
    spec(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
    spec(driver={"sparkConf": {"spark.x": "1"}, "serviceAccountAnnotations": {"a.b/c": "1", "d": ""}}),
    spec(serviceAccountName="a", executor={"serviceAccountAnnotations": {"a/b": "1"}}),
    spec(state={"persistentVolumeClaim": {"size": "1Gi"}}, placement={"location": "volume"}),
    spec(placement={"location": "label:volume"}),
    spec(config={"job.control.interval": "0"}),
    spec(broadcastInputs=["views", "users#1"]),
]
"""Just inside of the rules."""


def problems(data: Data) -> list[str]:
    """What the checks say that need the resource alone."""
    result = parse_data(data)
    found = [*result.problems]
    for app in result.apps:
        found += [*not_supported(app), *app_problems(app)]
    return [str(problem) for problem in found]


def dry_run(api_server: ApiServer, data: Data) -> str:
    """The API server's refusal; empty where it takes the resource."""
    done = api_server.kubectl("create", "--dry-run=server", "-n", "default", "-f", "-", given=data)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize(
    ("model", "message", "data"),
    REFUSED,
    ids=[f"{n} {model}: {text}" for n, (model, text, _) in enumerate(REFUSED)],
)
def test_what_a_rule_refuses_the_checks_refuse_too(
    api_server: ApiServer, model: str, message: str, data: Data
) -> None:
    assert any(message in rule["message"] for rule in RULES[model])
    assert message in dry_run(api_server, data)
    assert problems(data)


@pytest.mark.parametrize("data", TAKEN, ids=range(len(TAKEN)))
def test_what_is_just_inside_of_the_rules_both_take(api_server: ApiServer, data: Data) -> None:
    assert dry_run(api_server, data) == ""
    assert problems(data) == []


def test_every_rule_about_one_resource_has_an_example_that_it_refuses() -> None:
    rules = {
        (model, rule["message"]) for model in RULES for rule in RULES[model] if "oldSelf" not in rule["rule"]
    }
    tried = {
        (model, rule["message"])
        for model, text, _ in REFUSED
        for rule in RULES[model]
        if text in rule["message"]
    }
    assert tried == rules


def _long(letter: str, number: int) -> str:
    return f"{letter * 58}{number:05d}"


def _largest(operator: Data) -> Data:
    """As many streams, tables and operators as the definition allows, with the longest names."""
    system, last = _long("y", 15), _long("s", 255)
    return {
        **BASE,
        "spec": {
            "systems": [{"name": _long("y", n), "kafka": {"bootstrapServers": "k:1"}} for n in range(16)],
            "streams": [
                {"name": _long("s", n), "system": system, "columns": "a STRING", "key": "a"}
                for n in range(256)
            ],
            "tables": [
                {"name": _long("t", n), "sideInputs": [{"stream": _long("s", 255 - m)} for m in range(16)]}
                for n in range(64)
            ],
            "operators": [{"name": _long("o", n), **operator} for n in range(512)],
            "broadcastInputs": [f"{last}#3"] * 64,
            "onBadRecord": {"action": "deadLetter", "stream": last},
        },
    }


LAST = _long("o", 511)
LARGEST: dict[str, Data] = {
    "filter": {"from": LAST, "where": "a"},
    "merge": {"from": [_long("s", 255)] * 32},
    "join": {"from": [LAST, LAST], "within": "1s"},
    "joinTable": {"from": LAST, "table": _long("t", 63)},
    "process": {"from": LAST, "python": "a:b", "tables": [_long("t", 63)] * 16},
    "sendTo": {"from": LAST, "stream": _long("s", 255)},
}


@pytest.mark.parametrize("kind", LARGEST)
def test_the_largest_resource_costs_no_more_than_the_api_server_allows(
    api_server: ApiServer, kind: str
) -> None:
    assert dry_run(api_server, _largest({kind: LARGEST[kind]})) == ""
