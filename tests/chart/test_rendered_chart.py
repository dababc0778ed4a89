"""What the chart makes of values, whole."""

import pytest

from tests.harness.machine.helm import CHART, KUBE, Helm, value_set, value_sets
from tests.harness.repository.golden_charts import FOLDER, text


@pytest.mark.parametrize("name", value_sets())
def test_templates_are_rendered_as_they_were_written_down(helm: Helm, name: str) -> None:
    kept = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert text(helm, name) == kept, (
        "run `python -m tests.harness.repository.golden_charts` and read what has changed"
    )


@pytest.mark.parametrize("name", value_sets())
def test_helm_finds_nothing_to_warn_of(helm: Helm, name: str) -> None:
    done = helm.run("lint", "--strict", CHART, f"--kube-version={KUBE}", value_set(name))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout


def test_every_golden_file_is_of_a_set_of_values() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.yaml")) == value_sets()
