"""A valid app that holds something of everything, and ways to spoil it."""

import re
from copy import deepcopy
from typing import Any

import yaml

from streamapp.spec.parser import parse_data
from streamapp.spec.text.document import Path

Data = dict[str, Any]

EVERYTHING = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: page-views, namespace: shop, labels: {team: web}}
spec:
  applicationId: shop.page-views
  mode: stream
  processors: 4
  config: {job.intermediate.stream.partitions: "16"}
  systems:
    - {name: main, kafka: {bootstrapServers: "kafka:9092", configSecret: {name: kafka-client}}}
    - {name: local, embedded: {path: ./data}}
  streams:
    - {name: views, system: main, topic: page-views, format: json, key: user,
       columns: "user STRING, page STRING, ts TIMESTAMP", eventTime: {column: ts, delay: 5s}}
    - {name: users, system: main, format: json, key: user, columns: "user STRING, country STRING, tier INT"}
    - {name: clicks, system: local, columns: "user STRING, ts TIMESTAMP"}
    - {name: enriched, system: main, format: json, key: user}
  tables:
    - {name: users, store: rocksdb, sideInputs: [{stream: users, bootstrap: true}]}
    - {name: seen, store: lmdb, columns: "user STRING"}
    - {name: prices, remote: {python: "shop.prices:Table", cache: {size: 100, ttl: 5m}, retry: {attempts: 2}}}
  operators:
    - {name: real, filter: {from: views, where: "page NOT LIKE '/health%'"}}
    - {name: by-user, partitionBy: {from: real, key: user, partitions: 8}}
    - {name: joined, joinTable: {from: by-user, table: users, type: inner, select: "user, page, country"}}
    - {name: priced, joinTable: {from: joined, table: prices, key: page}}
    - {name: lines, map: {from: priced, python: "shop.lines:make", columns: "user STRING, line STRING"}}
    - {name: words, flatMap: {from: lines, select: "user, explode(split(line, ' ')) AS word"}}
    - {name: both, merge: {from: [words, lines]}}
    - {name: pairs, join: {from: [real, clicks], within: 10m, type: left}}
    - {name: counts, aggregate: {from: pairs, aggregates: "count(*) AS n",
       window: {hopping: {size: 1h, advance: 5m}}}}
    - {name: all, broadcast: {from: clicks}}
    - {name: custom, process: {from: all, python: "shop.custom:Step", tables: [seen], columns: "n INT"}}
    - {name: keep, sendToTable: {from: clicks, table: seen, deleteWhere: "user IS NULL"}}
    - {name: out, sendTo: {from: both, stream: enriched}}
  grouper: partition
  broadcastInputs: ["clicks#[0-1]"]
  placement: {hostAffinity: true, location: node}
  state: {persistentVolumeClaim: {size: 10Gi}}
  driver: {}
  executor: {}
  restartPolicy: {}
  suspend: false
"""
_EVERYTHING: Data = yaml.safe_load(EVERYTHING)


def everything() -> Data:
    """The app as plain values, for a test to change."""
    return deepcopy(_EVERYTHING)


def steps(path: str | Path) -> list[str | int]:
    """A path such as `spec.operators[3].filter` in its steps."""
    if not isinstance(path, str):
        return list(path)
    return [int(index) if index else word for word, index in re.findall(r"([A-Za-z_]+)|\[([0-9]+)\]", path)]


def at(data: Any, path: str | Path) -> Any:
    """What stands at a path."""
    for step in steps(path):
        data = data[step]
    return data


def changed(path: str | Path, value: Any, data: Data | None = None) -> Data:
    """The app with another value at that path."""
    copy = deepcopy(data) if data is not None else everything()
    *way, last = steps(path)
    place: Any = copy
    for step in way:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    if isinstance(last, int) and last == len(place):
        place.append(value)
    else:
        place[last] = value
    return copy


def without(path: str) -> Data:
    """The app with nothing at that path."""
    copy = everything()
    *way, last = steps(path)
    place: Any = copy
    for step in way:
        place = place[step]
    del place[last]
    return copy


def told(data: Any) -> list[str]:
    """What is wrong with a document, as people read it."""
    return [str(problem) for problem in parse_data(data).problems]
