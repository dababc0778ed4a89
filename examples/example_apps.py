"""The example apps that come with data: where they lie, their rows, and what has to come of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from random import Random
from typing import Protocol, cast

import yaml

from examples.example_data import BEGIN, Event, Row
from streamapp.cli.app_sources import parse_source
from streamapp.spec.resource.app import StreamApp

HERE = Path(__file__).parent


class Generator(Protocol):
    """What the `generate.py` of an example has."""

    APPS: tuple[str, ...]
    """The files of its apps, those that write before those that read it."""

    def events(self, chosen: Random, start: datetime) -> Iterator[Event]:
        """Rows without an end, in the order of their times."""

    def rounds(self, events: list[Event]) -> list[list[Event]]:
        """Finite data as it is written: each round when the apps have read the one before."""

    def expected(self, rounds: list[list[Event]]) -> dict[str, list[Row]]:
        """The rows of each output, computed without StreamApp."""


@dataclass(frozen=True, slots=True)
class ExampleApp:
    """An example: one folder, one app or several, and a generator."""

    folder: Path
    generator: Generator

    @property
    def sources(self) -> list[Path]:
        """The resource or program of each app."""
        return [self.folder / name for name in self.generator.APPS]

    @property
    def partitions(self) -> dict[str, int]:
        """How many partitions each stream has."""
        return dict(yaml.safe_load((self.folder / "topics.yaml").read_text("utf-8")))

    def endless(self, seed: int, start: datetime) -> Iterator[Event]:
        """Rows for as long as they are asked for; the same for the same seed and start."""
        return self.generator.events(Random(seed), start)  # noqa: S311 - nothing is secret here

    def rounds(self, rows: int, seed: int) -> list[list[Event]]:
        """Finite data; the same for the same seed."""
        return self.generator.rounds(list(islice(self.endless(seed, BEGIN), rows)))

    def reader(self, stream: str) -> Path:
        """The first app that declares a stream."""
        return next(
            source for source in self.sources if stream in {one.name for one in app_of(source).spec.streams}
        )


def names() -> list[str]:
    """The examples that come with data."""
    return sorted(path.parent.name for path in HERE.glob("*/generate.py"))


@cache
def example(name: str) -> ExampleApp:
    """The example of this name."""
    path = HERE / name / "generate.py"
    spec = spec_from_file_location(f"examples.{name}.generate", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return ExampleApp(path.parent, cast("Generator", module))


@cache
def app_of(source: Path) -> StreamApp:
    """The app that a resource or a program stands for."""
    parsed = parse_source(str(source))
    if parsed.problems:
        raise ValueError(f"{source}: {parsed.problems[0]}")
    return parsed.apps[0]
