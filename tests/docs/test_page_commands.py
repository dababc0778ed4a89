from pathlib import Path

import pytest

from tests.harness.repository.page_console import pages, renewed


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_command_on_a_page_says_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    shown = page.read_text("utf-8")
    assert shown == renewed(shown, tmp_path), "write it anew with python -m tests.harness.repository.page_console"


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_no_command_on_a_page_breaks_down(page: Path) -> None:
    assert "Traceback" not in page.read_text("utf-8")
