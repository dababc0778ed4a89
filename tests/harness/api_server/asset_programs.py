"""Programs that are built with the API server, such as Helm and promtool."""

import shutil
from pathlib import Path

from tests.harness.api_server.api_server import assets


def asset_program(name: str) -> Path | None:
    """The program: beside the API server's, else on the path."""
    programs = assets()
    if programs and (programs / name).exists():
        return programs / name
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None
