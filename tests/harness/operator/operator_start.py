"""How tests start an operator in a process of its own: by few words, and with times of their own."""

import asyncio
import logging
import sys
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

from streamapp_operator.app_overview.served_apps_page import served_page
from streamapp_operator.controller.process.lease import LeaseTerms
from streamapp_operator.controller.process.operator_options import OperatorOptions
from streamapp_operator.controller.process.operator_parts import OperatorParts, Reconciler
from streamapp_operator.controller.process.operator_process import run_operator
from streamapp_operator.controller.telemetry.json_logs import configure_logging
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts

OPERATOR_CODE = "from streamapp_operator.cli.operator import operator; operator()"


def start(reconciling: Callable[[OperatorParts], Reconciler]) -> int:
    """Be an operator until told to stop; what it ends with."""
    kubeconfig, namespaces, identity, pace, patience = sys.argv[1:]
    configure_logging(level=logging.DEBUG)
    options = OperatorOptions(
        namespaces=tuple(namespaces.split(",")),
        kubeconfig=Path(kubeconfig),
        identity=identity,
        port=0,
        apps_page=True,
        page_port=0,
        lease_terms=LeaseTerms(*(seconds * float(pace) for seconds in astuple(LeaseTerms()))),
        watch_timeouts=WatchTimeouts(*(seconds * float(patience) for seconds in astuple(WatchTimeouts()))),
    )
    return asyncio.run(run_operator(options, reconciling, served_page(options.apps_page)))
