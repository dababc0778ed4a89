"""Which layers an app is compiled to, where the runtime's part of the installation can say."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from streamapp.author.proposal import Proposal
from streamapp.cli.facts.installed_parts import InstalledPart
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp

_LAYERS = InstalledPart("streamapp.layers", "--layers", "runtime")


@dataclass(frozen=True, slots=True)
class CompiledLayers:
    """The layers that a batch's rows pass through; or why the app cannot be compiled."""

    layers: tuple[str, ...] = ()  # "python" or "spark", in order
    spark_reasons: tuple[str, ...] = ()  # the fields that Spark computes, with their texts
    problems: tuple[Problem, ...] = ()

    def text(self) -> str:
        """The text that `streamapp plan` prints; empty without layers."""
        return "".join(f"{line}\n" for line in self._lines())

    def document(self) -> dict[str, Any]:
        """The same as JSON."""
        if not self.layers:
            return {}
        return {"layers": list(self.layers), "sparkComputes": list(self.spark_reasons)}

    def _lines(self) -> Iterator[str]:
        if not self.layers:
            return
        yield ""
        if len(self.layers) == 1:
            yield "One Python layer: lanes stay from batch to batch, and no batch is a Spark job."
            return
        kinds = ", ".join(self.layers)
        yield f"{len(self.layers)} layers ({kinds}): each batch is a Spark job. Spark computes"
        yield from (f"  {reason}" for reason in self.spark_reasons)


def compiled_layers(app: StreamApp, proposal: Proposal) -> CompiledLayers:
    """Compile an app whose plan was accepted; a UsageError where the installation cannot do that."""
    layers: CompiledLayers = _LAYERS.call(app, proposal)
    return layers
