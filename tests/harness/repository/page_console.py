"""Runs what the pages show: each page's files are written, its commands run, and their output put in.

`python -m tests.harness.repository.page_console` puts the output of today into every page.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]

_block = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<file>[^"]+)")?[^\n]*\n(?P<body>.*?)^```$', re.M | re.S)


def pages() -> list[Path]:
    """The pages that show a command at work."""
    return [page for page in PAGES if "```console\n" in page.read_text("utf-8")]


def renewed(page: str, folder: Path) -> str:
    """The page with what its commands say when they are run, one after the other, in this folder."""
    shutil.copytree(ROOT / "examples", folder / "examples")

    def renew(block: re.Match[str]) -> str:
        if block["file"]:
            (folder / block["file"]).write_text(block["body"], "utf-8")
        if block["kind"] != "console":
            return block[0]
        commands = [line for line in block["body"].splitlines() if line.startswith("$ ")]
        told = "".join(f"{command}\n{_output(command[2:], folder)}" for command in commands)
        return f"```console\n{told}```"

    return _block.sub(renew, page)


def _output(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={"PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return run.stdout if not run.stdout or run.stdout.endswith("\n") else f"{run.stdout}\n"


def main() -> None:
    """Put today's output into every page."""
    for page in pages():
        with TemporaryDirectory() as folder:
            page.write_text(renewed(page.read_text("utf-8"), Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
