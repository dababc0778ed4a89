"""The generated files, and what makes each: `python -m tests.harness.repository.generated_files`."""

from collections.abc import Callable, Mapping
from pathlib import Path

from streamapp.spec.schema import crd_manifest, editor_schema, reference_page
from streamapp_operator.controller.rbac import rights_page
from streamapp_operator.controller.telemetry import operator_metrics
from streamapp_operator.reconciler import installation_file
from streamapp_operator.reconciler.status import lifecycle_page as life_page
from streamapp_operator.reconciler.status import phase_diagram
from streamapp_runtime.driver.reporting import run_metrics
from tests.harness.repository import (
    chart_crd,
    chart_dashboards,
    chart_rules,
    chart_values,
    durable_forms_page,
    plan_picture,
    rooms_picture,
)

REPOSITORY = Path(__file__).parents[3]

GENERATED: Mapping[str, Callable[[], str]] = {
    "charts/streamapp/README.md": chart_values.readme,
    "charts/streamapp/dashboards/apps.json": chart_dashboards.of_apps,
    "charts/streamapp/dashboards/operator.json": chart_dashboards.of_operator,
    "charts/streamapp/templates/_rules.tpl": chart_rules.template,
    "charts/streamapp/templates/crd.yaml": chart_crd.template,
    "crds/streamapps.streamapp.dev.yaml": crd_manifest.crd_yaml,
    "docs/pictures/app-life.svg": phase_diagram.phase_diagram,
    "docs/pictures/mismatch.svg": plan_picture.drawing,
    "docs/pictures/rooms.svg": rooms_picture.picture,
    "docs/reference/app-life.md": life_page.page,
    "docs/reference/durable-forms.md": durable_forms_page.page,
    "docs/reference/installation.md": installation_file.page,
    "docs/reference/metrics.md": run_metrics.page,
    "docs/reference/operator-metrics.md": operator_metrics.page,
    "docs/reference/operator-rights.md": rights_page.page,
    "docs/reference/resource.md": reference_page.reference_page,
    "docs/reference/streamapp.schema.json": editor_schema.editor_schema_text,
    "streamapp/spec/schema/streamapp.schema.json": editor_schema.editor_schema_text,
}


def write() -> None:
    """Every generated file, written where it is kept."""
    for path, make in GENERATED.items():
        (REPOSITORY / path).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    write()
