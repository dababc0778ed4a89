"""Which layers an app is compiled to, where the runtime's part of the installation can say."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import click

from streamapp.author.proposal import Proposal
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp

GROUP = "streamapp.layers"
_INSTALL = 'pip install "streamapp[runtime]"'


@dataclass(frozen=True, slots=True)
class CompiledLayers:
    """What a batch's rows pass through; or why the app cannot be compiled."""

    layers: tuple[str, ...] = ()  # "python" or "spark", in order
    spark_reasons: tuple[str, ...] = ()  # the fields that Spark computes, with their texts
    problems: tuple[Problem, ...] = ()

    def text(self) -> str:
        """What `streamapp plan` prints."""
        return "".join(f"{line}\n" for line in self._lines())

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        return {"layers": list(self.layers), "sparkComputes": list(self.spark_reasons)}

    def _lines(self) -> Iterator[str]:
        yield ""
        if not self.spark_reasons:
            yield "One Python layer: lanes stay from batch to batch, and no batch is a Spark job."
            return
        kinds = ", ".join(self.layers)
        yield f"{len(self.layers)} layers ({kinds}): each batch is a Spark job. Spark computes"
        yield from (f"  {reason}" for reason in self.spark_reasons)


def compiled_layers(app: StreamApp, proposal: Proposal) -> CompiledLayers:
    """Compile an app whose plan was accepted; a UsageError where the installation cannot do that."""
    for entry in entry_points(group=GROUP):
        try:
            layers: CompiledLayers = entry.load()(app, proposal)
        except ModuleNotFoundError as error:
            raise click.UsageError(f"--layers needs the module {error.name}: {_INSTALL}") from None
        return layers
    raise click.UsageError(f"--layers needs the runtime's part: {_INSTALL}")
