"""What an app's driver reported last, as the ConfigMap holds it."""

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.driver_report import Report
from streamapp.protocol.report_codec import decode_report
from streamapp_operator.controller.client.manifest import Manifest


def report_in(config_map: Manifest | None) -> Report | None:
    """The report that a ConfigMap holds; None where there is none that this version can read."""
    text = ((config_map or {}).get("data") or {}).get(message_names.REPORT)
    try:
        return decode_report(text) if text else None
    except UnreadableError:
        return None
