"""Runs what the pages show: each page's files are written, its commands run, and their output put in.

`python -m tests.harness.repository.page_console` puts the output of today into every page.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from streamapp.cli.main import root

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]

_COLUMNS = 100
_EXIT_CODE = '; echo "exit code $?"'
_plain = re.compile(
    rf"streamapp (?:check|plan|tasks|place) [\w/.-]+\.yaml[\w =./-]*(?:{re.escape(_EXIT_CODE)})?"
)
"""A command that neither runs code of an app nor leaves its output to the shell."""
_help = re.compile(r"^\$ (streamapp [\w ]*--help)$", re.M)
_PRINT_HELPS = """
import json, sys
from click.testing import CliRunner
from streamapp.cli.main import root
options = {"prog_name": "streamapp", "terminal_width": int(sys.argv[1]) - 2}
print(json.dumps([CliRunner().invoke(root, line.split()[1:], **options).output for line in sys.argv[2:]]))
"""

_block = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<file>[^"]+)")?[^\n]*\n(?P<body>.*?)^```$', re.M | re.S)


def pages() -> list[Path]:
    """The pages that show a command at work."""
    return [page for page in PAGES if "```console\n" in page.read_text("utf-8")]


def renewed(page: str, folder: Path) -> str:
    """The page with what its commands say when they are run, one after the other, in this folder."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    helps = _helps(page)

    def renew(block: re.Match[str]) -> str:
        if block["file"]:
            (folder / block["file"]).write_text(block["body"], "utf-8")
        if block["kind"] != "console":
            return block[0]
        commands = [line for line in block["body"].splitlines() if line.startswith("$ ")]
        told = "".join(
            f"{command}\n{helps.get(command[2:]) or _output(command[2:], folder)}" for command in commands
        )
        return f"```console\n{told}```"

    return _block.sub(renew, page)


def _helps(page: str) -> dict[str, str]:
    """The helps that a page shows, by command: of one process, in which no verb ran without `streamapp`."""
    if not (commands := _help.findall(page)):
        return {}
    printing = [sys.executable, "-c", _PRINT_HELPS, str(_COLUMNS), *commands]
    printed = subprocess.run(printing, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    return dict(zip(commands, json.loads(printed), strict=True))


def _output(command: str, folder: Path) -> str:
    run = _command_output(command, folder) if _plain.fullmatch(command) else _shell_output(command, folder)
    return run if not run or run.endswith("\n") else f"{run}\n"


def _command_output(command: str, folder: Path) -> str:
    """The output of a command of ours alone, in this process: a process for each takes most of a second."""
    words, shows_code, _ = command.partition(_EXIT_CODE)
    with chdir(folder):
        runner = CliRunner(env={"COLUMNS": str(_COLUMNS)})
        result = runner.invoke(root, words.split()[1:], prog_name="streamapp")
    return result.output + (f"exit code {result.exit_code}\n" if shows_code else "")


def _shell_output(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env={"PATH": path, "COLUMNS": str(_COLUMNS), "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    ).stdout


def main() -> None:
    """Put today's output into every page."""
    for page in pages():
        with TemporaryDirectory() as folder:
            page.write_text(renewed(page.read_text("utf-8"), Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
