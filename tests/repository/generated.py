"""The generated files and what makes each. `python -m tests.repository.generated` writes them anew."""

from collections.abc import Callable, Mapping
from pathlib import Path

from streamapp.spec import crd, reference
from streamapp_runtime.driver import metrics

REPOSITORY = Path(__file__).parents[2]

GENERATED: Mapping[str, Callable[[], str]] = {
    "crds/streamapps.streamapp.dev.yaml": crd.text,
    "docs/reference/metrics.md": metrics.page,
    "docs/reference/resource.md": reference.page,
}


def write() -> None:
    """Every generated file, written where it is kept."""
    for path, make in GENERATED.items():
        (REPOSITORY / path).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    write()
