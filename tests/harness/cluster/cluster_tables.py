"""The servers of tables in the cluster, and what their tables have, as somebody else reads it."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.e2e.kafka.image import build_on_runtime
from tests.harness.cluster.cluster_images import RUNTIME, VERSION, build_flags
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.machine.s3_server import s3_program

TABLES: Final = f"streamapp-tables:{VERSION}"
NAMESPACE: Final = "tables-servers"
_FOLDER: Final = Path(__file__).parents[2] / "e2e" / "tables"
_ICEBERG_ROWS: Final = """
import json, sys
from pyiceberg.catalog.sql import SqlCatalog
catalog = SqlCatalog("lake", **json.loads(sys.stdin.read()))
print(json.dumps(catalog.load_table("shop.enriched").scan().to_arrow().to_pylist()))
"""
_CATALOG: Final = {
    "uri": "postgresql+psycopg2://app:password-of-tests@127.0.0.1:5432/catalog",
    "warehouse": "s3://lake/warehouse",
    "s3.endpoint": "http://127.0.0.1:7070",
    "s3.region": "us-east-1",
    "s3.access-key-id": "key-of-tests",
    "s3.secret-access-key": "secret-of-tests",
}


def start_tables(cluster: Cluster) -> None:
    """Build the image, have the servers run, and wait until they answer."""
    with tempfile.TemporaryDirectory() as laid_out:
        context = Path(laid_out)
        for name in ("Dockerfile", "start-postgres"):
            shutil.copy(_FOLDER / name, context)
        shutil.copy(s3_program(), context)
        build_on_runtime(context, TABLES, RUNTIME, build_flags())
    cluster.load(TABLES)
    cluster.kubectl("apply", "--server-side", "-f", str(_FOLDER / "tables.yaml"))
    cluster.kubectl("-n", NAMESPACE, "rollout", "status", "deployment/servers", "--timeout=240s", limit=300)


def totals(cluster: Cluster) -> dict[str, tuple[int, int]]:
    """The views and the total of each user in PostgreSQL."""
    query = 'COPY (SELECT "user", views, total FROM totals) TO STDOUT CSV'
    lines = _run(cluster, "postgres", "psql", "-h", "/data", "-U", "app", "-d", "shop", "-c", query)
    fields = (line.split(",") for line in lines.splitlines())
    return {user: (int(views), int(total)) for user, views, total in fields}


def iceberg_rows(cluster: Cluster) -> list[dict[str, Any]]:
    """The rows of the Iceberg table."""
    rows: list[dict[str, Any]] = json.loads(
        _run(cluster, "s3", "python", "-c", _ICEBERG_ROWS, given=json.dumps(_CATALOG))
    )
    return rows


def _run(cluster: Cluster, container: str, *command: str, given: str = "") -> str:
    environment = ("env", "PGPASSWORD=password-of-tests")
    target = ("-n", NAMESPACE, "exec", "-i", "deployment/servers", "-c", container, "--")
    return cluster.kubectl(*target, *environment, *command, given=given)
