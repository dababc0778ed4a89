"""The tables of cases: read from `cases/`, or from the folder that STREAMAPP_VECTORS names instead."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GROUPS = ("planner", "expansion", "affinity", "control", "adjunct")


@dataclass(frozen=True, slots=True)
class Case:
    """One vector and the group whose runner judges it."""

    group: str
    vector: dict[str, Any]

    @property
    def id(self) -> str:
        return str(self.vector["id"])

    @property
    def strictness(self) -> str:
        return str(self.vector["strictness"])


def folder() -> Path:
    return Path(os.environ.get("STREAMAPP_VECTORS") or Path(__file__).parent / "cases")


def files() -> list[Path]:
    found = sorted(folder().glob("*.json"))
    if not found:
        raise FileNotFoundError(
            f"{folder()} holds no *.json: STREAMAPP_VECTORS has to name a folder of vectors"
        )
    return found


def cases() -> Iterator[Case]:
    for file in files():
        table = json.loads(file.read_text(encoding="utf-8"))
        for vector in table["vectors"]:
            yield Case(table["group"], vector)
