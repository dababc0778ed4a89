"""Small apps for the operator's tests."""

from copy import deepcopy
from typing import Any

import yaml

_JOIN = yaml.safe_load("""
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: app}
spec:
  processors: 2
  systems:
    - {name: main, kafka: {bootstrapServers: "kafka:9092"}}
  streams:
    - {name: views, system: main, format: json, key: user, columns: "user STRING, page STRING"}
    - {name: users, system: main, format: json, key: user, columns: "user STRING, country STRING"}
    - {name: enriched, system: main, format: json, key: user}
  tables:
    - {name: users, store: rocksdb, sideInputs: [{stream: users, bootstrap: true}]}
  operators:
    - {name: joined, joinTable: {from: views, table: users, type: inner, select: "user, page, country"}}
    - {name: out, sendTo: {from: joined, stream: enriched}}
""")


def join(name: str = "app", **spec: Any) -> dict[str, Any]:
    """A stream joined with a table, which is state."""
    app: dict[str, Any] = deepcopy(_JOIN)
    app["metadata"]["name"] = name
    app["spec"].update(spec)
    return app


def costly(name: str, operators: int = 450, salt: int = 0) -> dict[str, Any]:
    """An app that takes seconds to check; the salt makes it another one."""
    app = join(name)
    app["spec"]["operators"] = [
        {
            "name": f"joined-{number}",
            "joinTable": {
                "from": "views",
                "table": "users",
                "select": f"user, {salt * operators + number}" + "+f()" * 450 + " AS page",
            },
        }
        for number in range(operators)
    ]
    return app


def two_joins() -> dict[str, Any]:
    """Two joins, each of which can go wrong by itself."""
    app = join()
    spec = app["spec"]
    shops = {"name": "shops", "system": "main", "key": "shop", "columns": "shop STRING, city STRING"}
    spec["streams"].append(shops)
    spec["tables"].append({"name": "shops", "sideInputs": [{"stream": "shops"}]})
    spec["operators"] = [
        {"name": "by-user", "joinTable": {"from": "views", "table": "users", "select": "user, page"}},
        {"name": "by-shop", "joinTable": {"from": "views", "table": "shops", "select": "user, page"}},
        {"name": "out", "sendTo": {"from": "by-user", "stream": "enriched"}},
        {"name": "out2", "sendTo": {"from": "by-shop", "stream": "enriched"}},
    ]
    return app
