"""The apps that are measured."""

_HEAD = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: measured, namespace: bench}
spec:
  applicationId: bench.measured
  processors: 1
  systems: [{name: main, embedded: {path: data}}]
"""
_VIEWS = '    - {name: views, system: main, key: user, columns: "user STRING, page STRING, ts TIMESTAMP"}\n'


def _table(name: str, source: str, changelog: bool) -> str:
    kept = f"{{name: {name}, store: lmdb, changelog: {str(changelog).lower()}}}"
    put = f"{{name: put, sendToTable: {{from: {source}, table: {name}}}}}"
    return f"  tables:\n    - {kept}\n  operators:\n    - {put}\n"


JOIN = (
    _HEAD
    + "  streams:\n"
    + _VIEWS
    + """
    - {name: users, system: main, key: user, columns: "user STRING, country STRING, tier INT"}
    - {name: enriched, system: main, key: user}
  tables:
    - {name: users, store: lmdb, sideInputs: [{stream: users, bootstrap: true}]}
  operators:
    - {name: real, filter: {from: views, where: "page NOT LIKE '/health%'"}}
    - {name: joined, joinTable: {from: real, table: users, type: inner, select: "user, page, country"}}
    - {name: out, sendTo: {from: joined, stream: enriched}}
"""
)
"""Page views, health checks left out, beside the country of their user."""


def over_views(select: str) -> str:
    """Page views with other columns."""
    stream = "    - {name: changed, system: main}\n"
    changed = f'{{name: made, map: {{from: views, select: "{_quoted(select)}"}}}}'
    out = "{name: out, sendTo: {from: made, stream: changed}}"
    return f"{_HEAD}  streams:\n{_VIEWS}{stream}  operators:\n    - {changed}\n    - {out}\n"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


COUNTS = (
    _HEAD
    + """
  streams:
    - name: views
      system: main
      key: user
      columns: "user STRING, page STRING, ts TIMESTAMP"
      eventTime: {column: ts, delay: 10s}
    - {name: counted, system: main, key: user}
  operators:
    - name: counts
      aggregate: {from: views, key: user, aggregates: "count(*) AS n", window: {tumbling: {size: 1m}}}
    - {name: out, sendTo: {from: counts, stream: counted}}
"""
)
"""Views of each user in each minute of event time."""


def summed(kind: str) -> str:
    """A total of each user, whose values have a type."""
    return (
        _HEAD
        + "  streams:\n"
        + _VIEWS
        + f"""
    - {{name: changed, system: main, key: user}}
  operators:
    - name: totals
      aggregate: {{from: views, key: user, aggregates: "sum(CAST(length(page) AS {kind})) AS total"}}
    - {{name: out, sendTo: {{from: totals, stream: changed}}}}
"""
    )


def keeping(changelog: bool) -> str:
    """The newest view of each user in a table, with a changelog or without."""
    return _HEAD + "  streams:\n" + _VIEWS + _table("newest", "views", changelog)


FILLED = (
    _HEAD
    + """
  streams:
    - {name: users, system: main, key: user, columns: "user STRING, country STRING, tier INT, about STRING"}
"""
    + _table("known", "users", changelog=True)
)
"""Users in a table."""


def adjunct(broadcast: str = "") -> str:
    """Page views beside their users: a table that tasks keep in parts, or whole in stores of a kind."""
    kept = f"store: {broadcast}, broadcast: true" if broadcast else "store: lmdb"
    columns = "user STRING, country STRING, tier INT, about STRING"
    return (
        _HEAD
        + "  streams:\n"
        + _VIEWS
        + f"""
    - {{name: users, system: main, key: user, columns: "{columns}"}}
    - {{name: enriched, system: main, key: user}}
  tables:
    - {{name: users, {kept}, sideInputs: [{{stream: users, bootstrap: true}}]}}
  operators:
    - {{name: joined, joinTable: {{from: views, table: users, key: user, select: "user, page, country"}}}}
    - {{name: out, sendTo: {{from: joined, stream: enriched}}}}
"""
    )


def with_lanes(app: str, *, independent: bool) -> str:
    """The same with lanes that do not wait for each other, or that run each batch together."""
    batch = f"  batch: {{independentLanes: {str(independent).lower()}}}\n"
    return app.replace("  streams:\n", f"{batch}  streams:\n", 1)


def remote_join(port: int, cache: int) -> str:
    """The same join with users in a Redis of this machine."""
    local = "- {name: users, store: lmdb, sideInputs: [{stream: users, bootstrap: true}]}"
    remote = f"""- name: users
      columns: "user STRING, country STRING, tier INT"
      remote:
        python: streamapp_runtime.remote.redis:RedisTable
        options: {{url: "redis://127.0.0.1:{port}/0"}}
        timeout: 1m
        cache: {{size: {cache}, ttl: 1h}}"""
    return JOIN.replace(local, remote)
