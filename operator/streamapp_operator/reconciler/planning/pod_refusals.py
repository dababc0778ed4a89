"""The meaning of the API server's refusal of a pod for the generation that the pod is of."""

import re
from typing import Final

from streamapp.spec.problem import short
from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.reconciler.pods.quantities import quantity_value

MOST_CHARACTERS: Final = 1_000
_QUOTA: Final = re.compile(
    r"exceeded quota: \S+, requested: (?P<asked>\S+), used: \S+, limited: (?P<limit>\S+)"
)
_ABOUT_THE_OPERATOR: Final = re.compile(
    r"does not support dry run"  # a webhook that may have effects
    r"|cannot create resource"  # the operator lacks the right, which a start reports
)


def pod_refusal(error: RejectedError) -> str | None:
    """Why a pod would never be taken; None where the refusal says nothing about the generation.

    A quota that is used up may be free once the running driver has ended. It refuses a generation only where
    the pod alone is more than the quota.
    """
    text = str(error)
    if _ABOUT_THE_OPERATOR.search(text):
        return None
    return None if is_short_of_quota(text) else short(text, MOST_CHARACTERS)


def is_short_of_quota(text: str) -> bool:
    """True if a refusal says that a quota is used up which would have room for the pod alone."""
    quota = _QUOTA.search(text)
    return quota is not None and not _exceeds(quota["asked"], quota["limit"])


def lacks_account(error: RejectedError, account: str) -> bool:
    """True if a pod is refused because its service account is not there yet."""
    return re.search(rf"error looking up service account \S+/{re.escape(account)}:", str(error)) is not None


def _exceeds(asked: str, limit: str) -> bool:
    """True if any amount of a list such as `pods=1,requests.cpu=2` is more than its limit."""
    limits = dict(entry.split("=", 1) for entry in limit.split(",") if "=" in entry)
    asked_amounts = (entry.split("=", 1) for entry in asked.split(",") if "=" in entry)
    try:
        return any(
            quantity_value(amount) > quantity_value(limits.get(name, amount))
            for name, amount in asked_amounts
        )
    except ValueError:  # a quantity of a later API: as where others use the quota, a start tells
        return False
