"""The queries of Nexmark that are apps in `examples/nexmark`: each app, its SQL, and what it reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

FOLDER: Final = Path(__file__).parents[2] / "examples" / "nexmark"
"""The apps, the SQL of each, and the modules of their Python."""


@dataclass(frozen=True, slots=True)
class NexmarkQuery:
    """One app, which writes its answer to a stream of the query's name."""

    name: str
    updated_by: str = ""
    """The columns of whose values the newest row counts; where there are none, every row does."""

    @property
    def number(self) -> str:
        """The name of the query, without the form of the app."""
        return self.name.partition("-")[0]

    @property
    def resource(self) -> dict[str, Any]:
        """The app as data."""
        return dict(yaml.safe_load((FOLDER / f"{self.name}.yaml").read_text("utf-8")))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams that it reads."""
        return tuple(self.columns)

    @property
    def columns(self) -> Mapping[str, str]:
        """The columns of each stream that it reads, as far as it uses them."""
        streams = self.resource["spec"]["streams"]
        return {stream["name"]: stream["columns"] for stream in streams if stream["name"] != self.name}

    @property
    def sql(self) -> str:
        """What it has to answer, as one statement over all events."""
        return (FOLDER / f"{self.number}.sql").read_text("utf-8")

    def to_the_end(self) -> dict[str, Any]:
        """The app in batch mode, which closes its windows where the streams end."""
        app = self.resource
        return {**app, "spec": {**app["spec"], "mode": "batch"}}


QUERIES: Final[Mapping[str, NexmarkQuery]] = {
    query.name: query
    for query in (
        NexmarkQuery("q0"),
        NexmarkQuery("q1"),
        NexmarkQuery("q2"),
        NexmarkQuery("q3-tables"),
        NexmarkQuery("q3-within"),
        NexmarkQuery("q5"),
        NexmarkQuery("q7"),
        NexmarkQuery("q8"),
        NexmarkQuery("q11"),
        NexmarkQuery("q13"),
        NexmarkQuery("q14"),
        NexmarkQuery("q17", updated_by="auction, day"),
        NexmarkQuery("q18", updated_by="auction, bidder"),
        NexmarkQuery("q20"),
        NexmarkQuery("q21"),
        NexmarkQuery("q22"),
    )
}
