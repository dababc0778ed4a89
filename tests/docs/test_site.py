import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(made)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    return made


def test_the_site_builds_without_a_warning_and_every_page_is_in_it(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert pages <= {path.relative_to(site) for path in site.rglob("*.html")}


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loading = [path.name for path in site.rglob("*.html") if LOADED.search(path.read_text("utf-8"))]
    assert loading == []


def test_every_page_is_in_the_navigation_and_every_decision_in_its_index() -> None:
    listed = re.findall(r"[\w/.-]+\.md", str(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]))
    index = (DOCS / "decisions" / "index.md").read_text("utf-8")
    listed += [f"decisions/{name}" for name in re.findall(r"\]\((\d+[\w-]+\.md)\)", index)]
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_every_field_of_the_reference_can_be_linked_to(site: Path) -> None:
    page = (site / "reference" / "resource.html").read_text("utf-8")
    for anchor in ("spec.operators.joinTable.table", "spec.streams.eventTime.delay", "status.jobModel"):
        assert f'id="{anchor}"' in page
