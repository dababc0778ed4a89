import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.harness.repository.checkout import REPOSITORY


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files in a wheel built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "."]
    built = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        return content.namelist()


@pytest.mark.usefixtures("process")
def test_the_wheel_holds_the_three_packages_at_its_top_and_nothing_else(names: list[str]) -> None:
    top = {Path(name).parts[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {
        "streamapp",
        "streamapp_operator",
        "streamapp_runtime",
    }


@pytest.mark.usefixtures("process")
def test_the_wheel_hides_no_standard_module_and_brings_no_tests_or_examples(names: list[str]) -> None:
    for folder in ("operator", "runtime", "tests", "examples", "bench", "docs"):
        assert not any(name.startswith(f"{folder}/") for name in names)


@pytest.mark.usefixtures("process")
def test_the_wheel_says_that_it_is_typed_and_has_the_command(names: list[str]) -> None:
    assert "streamapp/py.typed" in names
    assert any(name.endswith(".dist-info/entry_points.txt") for name in names)


@pytest.mark.usefixtures("process")
def test_the_wheel_brings_the_schema_for_editors(names: list[str]) -> None:
    assert "streamapp/spec/schema/streamapp.schema.json" in names


@pytest.mark.usefixtures("process")
def test_the_wheel_brings_every_file_of_the_page_of_a_running_app_with_the_licence_of_its_charts(
    names: list[str],
) -> None:
    folder = REPOSITORY / "runtime" / "streamapp_runtime" / "driver" / "page" / "assets"
    packed = {f"streamapp_runtime/driver/page/assets/{path.name}" for path in folder.iterdir()}
    assert "streamapp_runtime/driver/page/assets/uPlot.LICENSE" in packed
    assert packed <= set(names)


@pytest.mark.usefixtures("process")
def test_the_wheel_brings_every_file_of_new_apps(names: list[str]) -> None:
    folder = REPOSITORY / "streamapp" / "cli" / "documents" / "templates"
    templates = {path.relative_to(REPOSITORY).as_posix() for path in folder.rglob("*.tmpl")}
    assert templates
    assert templates <= set(names)
