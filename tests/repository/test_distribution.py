"""What `make dist` builds, looked at and installed where there is no repository."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any, Final

import pytest

from tests.harness.api_server.asset_programs import asset_program
from tests.harness.machine.helm import CHART, KUBE, Helm
from tests.harness.machine.interpreters import java_homes, pythons
from tests.harness.repository.checkout import REPOSITORY

pytestmark = pytest.mark.long

PROJECT: Final[dict[str, Any]] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
VERSION: Final[str] = PROJECT["version"]
ENRICHED: Final = [
    {"user": "ann", "page": "/", "country": "NO"},
    {"user": "bob", "page": "/shoes", "country": "FR"},
    {"user": "ann", "page": "/cart", "country": "NO"},
]


def ran(*command: str | Path, cwd: Path, **variables: str) -> str:
    """What a command printed; its complaint where it failed."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    ran(REPOSITORY / ".ci" / "dist", folder, cwd=REPOSITORY)
    return folder


def wheel(release: Path) -> Path:
    return release / "python" / f"streamapp-{VERSION}-py3-none-any.whl"


def test_each_file_has_its_checksum(release: Path) -> None:
    lines = (release / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {name: checksum for checksum, name in (line.split() for line in lines)}
    files = [path for path in release.rglob("*") if path.is_file() and path.name != "SHA256SUMS"]
    assert sums == {
        path.relative_to(release).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }
    assert {Path(name).suffix for name in sums} == {".whl", ".gz", ".tgz", ".yaml", ".json", ".txt"}


def test_the_provenance_names_the_commit_and_each_file(release: Path) -> None:
    statement = json.loads((release / f"streamapp-{VERSION}.intoto.json").read_text("utf-8"))
    lines = (release / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {name: checksum for checksum, name in (line.split() for line in lines)}
    del sums[f"streamapp-{VERSION}.intoto.json"]
    assert {each["name"]: each["digest"]["sha256"] for each in statement["subject"]} == sums
    dependencies = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    commit = ran("git", "rev-parse", "HEAD", cwd=REPOSITORY).strip()
    assert {"name": "source", "digest": {"gitCommit": commit}} in dependencies


def test_the_source_distribution_makes_the_same_wheel(release: Path, tmp_path: Path) -> None:
    with tarfile.open(release / "python" / f"streamapp-{VERSION}.tar.gz") as source:
        source.extractall(tmp_path, filter="data")
    epoch = ran("git", "log", "-1", "--format=%ct", cwd=REPOSITORY).strip()
    build = (REPOSITORY / ".venv" / "bin" / "python", "-m", "build", "--no-isolation", "--wheel")
    ran(*build, "--outdir", tmp_path, cwd=tmp_path / f"streamapp-{VERSION}", SOURCE_DATE_EPOCH=epoch)
    assert (tmp_path / wheel(release).name).read_bytes() == wheel(release).read_bytes()


def test_the_chart_is_that_of_the_repository(release: Path, tmp_path: Path) -> None:
    helm = asset_program("helm")
    assert helm is not None, "`make dist` has built with one"
    packed = release / "chart" / f"streamapp-{VERSION}.tgz"
    rendered, expected = (
        Helm(helm, tmp_path).run("template", "streamapp", chart, f"--kube-version={KUBE}")
        for chart in (packed, CHART)
    )
    assert rendered.returncode == 0, rendered.stderr
    assert rendered.stdout == expected.stdout


def test_the_bill_of_materials_has_what_is_installed_with_its_licence(release: Path) -> None:
    text = (release / f"streamapp-{VERSION}.cdx.json").read_text("utf-8")
    document = json.loads(text)
    components = {each["name"].lower(): each["version"] for each in document["components"]}
    pins = dict(
        line.lower().split("==") for line in (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines()
    )
    assert components.pop("uplot") in (
        REPOSITORY / "docs/decisions/0060-the-page-of-a-running-app.md"
    ).read_text("utf-8")
    assert {name: pins.get(name) for name in components} == components
    extras = PROJECT["optional-dependencies"]
    shipped = [extras[extra] for extra in sorted({*extras} - {"dev", "release"})]
    requirements = [*PROJECT["dependencies"], *chain.from_iterable(shipped)]
    names = {re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-") for requirement in requirements}
    assert names <= {name.replace("_", "-") for name in components}
    assert [each["name"] for each in document["components"] if not each.get("licenses")] == []
    assert str(REPOSITORY) not in text


@pytest.mark.parametrize("which", [pytest.param(0, marks=pytest.mark.nightly), -1], ids=["oldest", "newest"])
def test_a_new_app_runs_with_what_is_installed_from_the_release(
    release: Path, which: int, tmp_path: Path
) -> None:
    python, java_home = list(pythons().values())[which], list(java_homes().values())[which]
    ran(python, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    programs = tmp_path / "env" / "bin"
    pins = release / "constraints.txt"
    packages = (f"{wheel(release)}[runtime]", "pytest")
    ran(programs / "python", "-m", "pip", "install", "--quiet", "--constraint", pins, *packages, cwd=tmp_path)
    streamapp, variables = programs / "streamapp", {"JAVA_HOME": str(java_home), "PYTHONPATH": ""}

    assert ran(streamapp, "--version", cwd=tmp_path).split()[-1] == VERSION
    ran(streamapp, "init", "shop", cwd=tmp_path)
    shop = tmp_path / "shop"
    assert " passed" in ran(programs / "pytest", "-q", cwd=shop, **variables)
    for stream in ("users", "views"):
        ran(streamapp, "log", "write", "app.yaml", stream, f"sample/{stream}.jsonl", cwd=shop, **variables)
    ran(streamapp, "run", "app.yaml", "--until-end", cwd=shop, **variables)
    rows = ran(streamapp, "log", "read", "app.yaml", "enriched", cwd=shop, **variables).splitlines()
    assert [json.loads(row) for row in rows] == ENRICHED
