"""The Pythons and Javas of this machine that StreamApp runs with."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

OLDEST_PYTHON: Final = (3, 11)
OLDEST_JAVA: Final = 17
_PYTHON_VERSION: Final = "import sys; print(*sys.version_info[:2])"
_JVMS: Final = Path("/usr/lib/jvm")
_NAMED_HOME: Final = re.compile(r"JAVA_HOME_\d+_\w+")


def pythons() -> dict[tuple[int, int], Path]:
    """By version, the oldest first: those of the PATH, and those that pyenv has installed."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names = [f"python3.{minor}" for minor in range(OLDEST_PYTHON[1], 30)]
    on_path = [Path(program) for name in names if (program := shutil.which(name))]
    versions = dict[tuple[int, int], Path]()
    for program in (*on_path, *pyenv.glob("*/bin/python3")):
        printed = subprocess.run(
            [program, "-c", _PYTHON_VERSION], capture_output=True, text=True, check=False
        ).stdout.split()  # a shim of pyenv prints nothing for a version that is not chosen
        if len(printed) == 2 and (version := (int(printed[0]), int(printed[1]))) >= OLDEST_PYTHON:
            versions.setdefault(version, program)
    return dict(sorted(versions.items()))


def java_homes() -> dict[int, Path]:
    """By version, the oldest first: that of the PATH, those of the distribution, those that a forge names."""
    on_path = shutil.which("java")
    programs = [Path(on_path).resolve()] if on_path else []
    versions = dict[int, Path]()
    named = [
        Path(home, "bin", "java") for name, home in sorted(os.environ.items()) if _NAMED_HOME.fullmatch(name)
    ]
    for program in (
        *programs,
        *sorted(_JVMS.glob("*/bin/java")),
        *(each for each in named if each.is_file()),
    ):
        done = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
        version = re.search(r'version "(\d+)', done.stderr)
        if version and int(version[1]) >= OLDEST_JAVA:
            versions.setdefault(int(version[1]), program.parent.parent)
    return dict(sorted(versions.items()))
