import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.harness.machine.chromium import chromium

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']?(https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy: it is written beside its pages."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(DOCS, folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    built = build(folder)
    assert built.returncode == 0, built.stdout
    return folder / "site"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"]
    return subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


@pytest.mark.usefixtures("process")
def test_the_site_builds_without_a_warning_and_every_page_is_in_it(site: Path) -> None:
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert pages <= {path.relative_to(site) for path in site.rglob("*.html")}


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("link", ["guide/nothing.md", "guide/engine.md#nothing"])
def test_a_link_to_nothing_ends_the_build(site: Path, tmp_path: Path, link: str) -> None:
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    (tmp_path / "mkdocs.yml").write_text("site_name: links\nvalidation: {links: {anchors: warn}}\n")
    (tmp_path / "docs" / "guide" / "engine.md").write_text("# Engine\n")
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n[there]({link})\n")
    built = build(tmp_path)
    assert built.returncode != 0
    assert "does not exist" in built.stdout


@pytest.mark.usefixtures("process")
def test_a_word_of_the_field_is_found_and_nothing_is_asked_of_another_host(site: Path) -> None:
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, chromium() as browser:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page = browser.new_page()
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            address = f"http://127.0.0.1:{server.server_port}/"
            page.goto(f"{address}index.html")
            page.keyboard.press("Control+k")
            page.keyboard.type("co-partitioning")
            page.get_by_role("link", name=re.compile("partition", re.IGNORECASE)).first.wait_for()
            results = page.content()
            page.close()
        finally:
            server.shutdown()
            thread.join()
    assert "planning.html" in results
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


class QuietHandler(SimpleHTTPRequestHandler):
    """Says nothing of requests."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.mark.usefixtures("process")
def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loading = [path.name for path in site.rglob("*.html") if LOADED.search(path.read_text("utf-8"))]
    assert loading == []


def test_every_page_is_in_the_navigation_and_every_decision_in_its_index() -> None:
    listed = re.findall(r"[\w/.-]+\.md", str(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]))
    index = (DOCS / "decisions" / "index.md").read_text("utf-8")
    listed += [f"decisions/{name}" for name in re.findall(r"\]\((\d+[\w-]+\.md)\)", index)]
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


@pytest.mark.usefixtures("process")
def test_every_field_of_the_reference_can_be_linked_to(site: Path) -> None:
    page = (site / "reference" / "resource.html").read_text("utf-8")
    for anchor in ("spec.operators.joinTable.table", "spec.streams.eventTime.delay", "status.jobModel"):
        assert f'id="{anchor}"' in page
