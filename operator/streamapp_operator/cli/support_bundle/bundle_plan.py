"""The plan of an app by what its driver reported: to ask its systems would take Secrets."""

from streamapp.author.proposal import PlanningInputs, propose
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.plan.render.forms import FORMS
from streamapp.protocol.report_codec import decode_report
from streamapp.spec.parser import parse_data
from streamapp_operator.controller.client.manifest import Manifest


class PlanUnknownError(Exception):
    """The app cannot be planned by what is known of it; the message says why."""


def plan_of_report(app: Manifest, report: str) -> str:
    """The plan as `streamapp plan` draws it."""
    parsed = parse_data(app)
    if not parsed.apps:
        raise PlanUnknownError(f"the resource cannot be parsed: {parsed.problems[0]}")
    if not report:
        raise PlanUnknownError("no driver has reported partition counts")
    try:
        counts = decode_report(report).counts
    except UnreadableError as error:
        raise PlanUnknownError(f"the driver's report cannot be read: {error}") from None
    streams = (stream.name for stream in parsed.apps[0].spec.streams)
    proposal = propose(parsed.apps[0], PlanningInputs({**dict.fromkeys(streams), **counts}))
    return FORMS["text"](parsed.apps[0].metadata.name, proposal.graph, proposal.plan, False)
