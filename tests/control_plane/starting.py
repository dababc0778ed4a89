"""How tests start an operator in a process of its own: by few words, and with times of their own."""

import asyncio
import logging
import sys
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

from streamapp_operator.edge import Edge, Reconcile
from streamapp_operator.leading.lease import Terms
from streamapp_operator.options import Options
from streamapp_operator.process import serve
from streamapp_operator.telemetry.logs import log_to
from streamapp_operator.watch.patience import Patience


def start(reconciling: Callable[[Edge], Reconcile]) -> int:
    """Be an operator until told to stop; what it ends with."""
    kubeconfig, namespaces, identity, pace, patience = sys.argv[1:]
    log_to(level=logging.DEBUG)
    options = Options(
        namespaces=tuple(namespaces.split(",")),
        kubeconfig=Path(kubeconfig),
        identity=identity,
        port=0,
        terms=Terms(*(seconds * float(pace) for seconds in astuple(Terms()))),
        patience=Patience(*(seconds * float(patience) for seconds in astuple(Patience()))),
    )
    return asyncio.run(serve(options, reconciling))
