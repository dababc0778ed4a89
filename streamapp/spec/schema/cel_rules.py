"""CEL rules that the API server checks: immutable fields, fields that exclude each other, names in use.

Each says what a check of the resource says too: the API server refuses at `kubectl apply`, and the operator,
which tells all errors at once, refuses in a condition. A rule has to be affordable for the largest resource.
"""

from collections.abc import Iterable, Mapping

from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.operators import Operator
from streamapp.spec.resource.systems import TABLE_KINDS, System
from streamapp.spec.value_types.format_names import TIMES_OF_DEBEZIUM, WITH_REGISTRY, WITH_TIMES_AS_NUMBERS
from streamapp.spec.value_types.scalars import ANNOTATION, APP_NAME

Rule = dict[str, str]

_ONE_OF = {"Operator": (2, 2), "System": (2, 3), "Window": (1, 1)}
"""Entries with exactly one kind beside their name: counting costs no CEL. A system may say `home`."""


def property_bounds(model: str) -> dict[str, int]:
    """The bounds on the number of properties of a model's entry; empty where any number is right."""
    if model not in _ONE_OF:
        return {}
    fewest, most = _ONE_OF[model]
    return {"minProperties": fewest, "maxProperties": most}


def _rule(rule: str, message: str) -> Rule:
    return {"rule": rule, "message": message}


def _immutable(field: str) -> str:
    """A rule that an optional field keeps its value, or stays unset."""
    new, old = f"self.{field}", f"oldSelf.{field}"
    return f"has({new}) == has({old}) && (!has({new}) || {new} == {old})"


def _listed(names: Iterable[str]) -> str:
    return f"[{', '.join(repr(name) for name in names)}]"


def _has_kinds(kinds: Iterable[str], owner: str = "self") -> str:
    return ", ".join(f"has({owner}.{kind})" for kind in kinds)


_RESET = "self.resetNonce > oldSelf.resetNonce"
_STREAMS = "self.streams.map(s, s.name)"
_SELECT_OR_PYTHON = [
    _rule("has(self.select) != has(self.python)", "takes either select or python"),
    _rule("has(self.python) == has(self.columns)", "python and columns go together"),
]
_DEAD_LETTERS = [
    _rule("self.action != 'deadLetter' || has(self.stream)", "deadLetter needs the stream to write to")
]
_POD = [
    _rule("self.sparkConf.all(k, k.startsWith('spark.'))", "settings of Spark begin with spark."),
    _rule(
        f"self.serviceAccountAnnotations.all(k, k.matches('{ANNOTATION}'))",
        "serviceAccountAnnotations have names of annotations",
    ),
]
_COSTLY_SOURCES = "merge"
"""512 of these read up to 16,384 names, which costs more than the API server lets a rule cost."""


def _sources_exist() -> str:
    """The CEL condition that the sources of each operator exist. An operator has one kind."""
    names = f"{_STREAMS} + self.operators.map(o, o.name)"
    choices = "".join(
        f"has(o.{kind}) ? {_source(kind)} : " for kind in Operator.kinds() if kind != _COSTLY_SOURCES
    )
    return f"[{names}].all(names, self.operators.all(o, {choices}true))"


def _source(kind: str) -> str:
    if kind == "join":
        return "o.join.from.all(f, f in names)"
    return f"o.{kind}.from in names"


def _policies_name_streams() -> str:
    return " && ".join(
        f"(!has(self.{policy}.stream) || self.streams.exists(s, s.name == self.{policy}.stream))"
        for policy in ("onBadRecord", "onCodeError", "lateRows")
    )


NAME_RULES = [
    {
        "rule": f"self.metadata.name.size() <= 40 && self.metadata.name.matches('{APP_NAME}')",
        "message": "metadata.name must be a DNS label of at most 40 characters",
    }
]

RULES: Mapping[str, list[Rule]] = {
    "System": [
        _rule(f"[{_has_kinds(System.kinds())}].filter(k, k).size() == 1", "a system is of one kind"),
        _rule(
            f"!has(self.home) || !self.home || ![{_has_kinds(sorted(TABLE_KINDS))}].exists(k, k)",
            "a system of tables cannot be the home",
        ),
    ],
    "Map": _SELECT_OR_PYTHON,
    "FlatMap": _SELECT_OR_PYTHON,
    "Aggregate": [
        _rule(
            "!has(self.emit) || self.emit != 'onWatermark' || has(self.window)",
            "running totals have no end that a watermark could pass: say onUpdate, or a window",
        )
    ],
    "Stream": [
        _rule(_immutable("topic"), "topic is immutable; give the stream a new name"),
        _rule("!has(self.avroSchema) || self.format == 'avro'", "avroSchema goes with format avro"),
        _rule(
            f"!self.registry || (self.format in {_listed(WITH_REGISTRY)} && !self.carriesWatermarks)",
            "registry goes with format avro, protobuf, json or debezium, and not with carriesWatermarks",
        ),
        _rule("self.format != 'protobuf' || self.registry", "format protobuf goes with registry"),
        _rule("!has(self.csv) || self.format == 'csv'", "csv goes with format csv"),
        _rule(
            "self.format == 'debezium' || (!has(self.decimals) && !self.flattened)",
            "decimals and flattened go with format debezium",
        ),
        _rule(
            "self.format == 'debezium' ? self.timestamps != 'seconds'"
            f" : !(self.timestamps in {_listed(TIMES_OF_DEBEZIUM)})",
            "timestamps seconds go without format debezium, nanoseconds and isostring with it alone",
        ),
        _rule(
            "self.format != 'debezium' || !self.registry"
            " || (!has(self.decimals) && self.timestamps == 'text')",
            "registered schemas of Debezium say decimals and timestamps",
        ),
        _rule("!has(self.writerSchema) || self.registry", "writerSchema goes with registry"),
        _rule(
            f"self.timestamps == 'text' || (self.format in {_listed(WITH_TIMES_AS_NUMBERS)}"
            " && !self.carriesWatermarks)",
            "timestamps as numbers go with format json or debezium, and not with carriesWatermarks",
        ),
        _rule(
            "!self.strict || (self.format == 'json' && !self.carriesWatermarks)",
            "strict goes with format json, and not with carriesWatermarks",
        ),
        _rule(
            "!self.carriesWatermarks || (self.format == 'json' && !has(self.eventTime))",
            "carriesWatermarks goes with format json, and without eventTime",
        ),
    ],
    "CsvSigns": [
        _rule(
            "self.delimiter != self.quote && !self.nullText.contains(self.delimiter)"
            " && !self.nullText.contains(self.quote)",
            "delimiter and quote are two characters, and none of nullText",
        )
    ],
    "WriterSchema": [
        _rule(
            "!has(self.id) || (!self.autoRegister && self.subject == 'topic')",
            "id goes without subject and autoRegister",
        )
    ],
    "Table": [
        _rule("!has(self.remote) || self.sideInputs.size() == 0", "a remote table has no side inputs"),
        _rule(
            "!self.broadcast || has(self.remote) || self.sideInputs.size() > 0",
            "a broadcast table is filled by side inputs",
        ),
        _rule(
            "self.sideInputs.size() == 0 || !has(self.changelog) || !self.changelog",
            "a table of side inputs has no changelog",
        ),
        _rule(
            "self.visibility != 'sameBatch' || self.sideInputs.all(s, s.versions == 'none')",
            "visibility: sameBatch goes without versions",
        ),
    ],
    "SideInput": [
        _rule(
            "!has(self.python) || (!has(self.key) && !has(self.value))", "python goes without key and value"
        )
    ],
    "BadRecords": _DEAD_LETTERS,
    "CodeErrors": _DEAD_LETTERS,
    "LateRows": [_rule("self.action != 'stream' || has(self.stream)", "stream needs the stream to write to")],
    "EnvVar": [_rule("!has(self.value) || !has(self.valueFrom)", "takes either value or valueFrom")],
    "Driver": [
        *_POD,
        _rule("!self.standbyExecutors || self.standby", "standbyExecutors needs driver.standby"),
    ],
    "Executor": _POD,
    "State": [
        _rule(
            "[has(self.persistentVolumeClaim), has(self.hostPath), has(self.emptyDir)]"
            ".filter(k, k).size() <= 1",
            "takes one kind of volume",
        )
    ],
    "Spec": [
        _rule(_immutable("applicationId"), "applicationId is immutable"),
        _rule(_immutable("operatorClass"), "operatorClass is immutable"),
        _rule(
            f"self.grouper == oldSelf.grouper || {_RESET}",
            "grouper changes only together with a raised resetNonce: tasks are addresses of state",
        ),
        _rule(
            f"{_RESET} || self.tables.all(t, oldSelf.tables.all(o, o.name != t.name || o.store == t.store))",
            "a table's store changes only together with a raised resetNonce",
        ),
        _rule(
            "self.resetNonce >= oldSelf.resetNonce && self.restartNonce >= oldSelf.restartNonce",
            "nonces only grow",
        ),
        _rule(
            "!has(self.serviceAccountName) || self.driver.serviceAccountAnnotations.size() == 0",
            "driver.serviceAccountAnnotations goes without serviceAccountName",
        ),
        _rule(
            "!self.driver.standbyExecutors || !has(self.state.persistentVolumeClaim)",
            "driver.standbyExecutors goes without state.persistentVolumeClaim",
        ),
        _rule(
            "!('volume' in self.placement.location.split('+')) || has(self.state.persistentVolumeClaim)",
            "placement.location volume needs state.persistentVolumeClaim",
        ),
        _rule(f"self.config.all(k, k in {_listed(KEYS)})", "config has settings that are not known"),
        _rule(
            "self.streams.all(s, self.systems.exists(y, y.name == s.system))",
            "each stream is of a system in systems",
        ),
        _rule(
            "self.streams.all(s, !s.registry || self.systems.exists(y, "
            "y.name == s.system && has(y.kafka) && has(y.kafka.schemaRegistry)))",
            "registry needs kafka.schemaRegistry of the stream's system",
        ),
        _rule(
            f"self.systems.exists(y, ![{_has_kinds(sorted(TABLE_KINDS), 'y')}].exists(k, k))",
            "one system has streams: it is the home",
        ),
        _rule(
            "self.streams.all(s, s.primaryKey.size() == 0 || self.systems.exists(y, "
            f"y.name == s.system && [{_has_kinds(sorted(TABLE_KINDS), 'y')}].exists(k, k)))",
            "primaryKey goes with streams of a system of tables",
        ),
        _rule(
            "self.streams.all(s, !(has(s.partitions) || has(s.refresh)) || self.systems.exists(y, "
            f"y.name == s.system && [{_has_kinds(sorted(TABLE_KINDS), 'y')}].exists(k, k)))",
            "partitions and refresh go with streams of a system of tables",
        ),
        _rule(
            "self.systems.filter(y, has(y.home) && y.home).size() <= 1",
            "one system is the home",
        ),
        _rule(
            f"[{_STREAMS}].all(names, self.operators.all(o, !(o.name in names)))",
            "streams and operators share one set of names",
        ),
        _rule(_sources_exist(), "each from names a stream or an operator"),
        _rule(
            f"[{_STREAMS}].all(names, self.operators.all(o, !has(o.sendTo) || o.sendTo.stream in names))",
            "each sendTo names a stream",
        ),
        _rule(
            "[self.tables.map(t, t.name)].all(names, self.operators.all(o, "
            "has(o.joinTable) ? o.joinTable.table in names : "
            "has(o.sendToTable) ? o.sendToTable.table in names : "
            "has(o.process) ? o.process.tables.all(t, t in names) : true))",
            "each operator's table is in tables",
        ),
        _rule(
            f"[{_STREAMS}].all(names, self.tables.all(t, t.sideInputs.all(i, i.stream in names)))",
            "each side input names a stream",
        ),
        _rule(_policies_name_streams(), "onBadRecord, onCodeError and lateRows name a stream"),
        _rule(
            f"[{_STREAMS}].all(names, self.broadcastInputs.all(b, b.split('#')[0] in names))",
            "each of broadcastInputs names a stream",
        ),
    ],
}
