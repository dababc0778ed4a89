"""Writes what the chart renders today: `python -m tests.harness.repository.golden_charts`."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tests.harness.api_server.asset_programs import asset_program
from tests.harness.machine.helm import Helm, value_set, value_sets

FOLDER = Path(__file__).parents[2] / "chart" / "golden"
_OWN_TESTS = tuple(f"# Source: streamapp/templates/{name}.yaml" for name in ("crd", "dashboards", "rbac"))


def text(helm: Helm, name: str) -> str:
    """All that is rendered of a set of values, but what other tests look at and is long."""
    parts = helm.rendered(value_set(name)).split("---\n")
    return "---\n".join(part for part in parts if part.strip() and not part.startswith(_OWN_TESTS))


if __name__ == "__main__":
    program = asset_program("helm")
    if program is None:
        raise SystemExit("there is no helm; `make kube-assets` gets one")
    with TemporaryDirectory() as home:
        for name in value_sets():
            written = text(Helm(program, Path(home)), name)
            (FOLDER / f"{name}.yaml").write_text(written, encoding="utf-8")
