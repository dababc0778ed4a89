"""The namespaces that an operator may look into: one that was deleted has taken its role along."""

import logging
from collections.abc import Sequence

from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError
from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.object_paths import collection_path
from streamapp_operator.controller.client.resource_kinds import STREAM_APP, Verb

_ONE = (("limit", "1"),)
_log = logging.getLogger(__name__)


class NamespaceAccessibleError(Exception):
    """There is a namespace to look after that was barred when this process began: it has to begin anew."""


async def accessible_namespaces(calls: ApiTransport, namespaces: Sequence[str]) -> tuple[str, ...]:
    """Those of them that are not barred; all where every one is, for then it is the rights that are wrong."""
    found = [one for one in namespaces if await _may_look(calls, one)]
    for barred in namespaces if not found else sorted(set(namespaces) - set(found)):
        _log.warning("we may not look into namespace %s: is it, or our role there, gone?", barred)
    return tuple(found) or tuple(namespaces)


async def expect_inaccessible(calls: ApiTransport, namespaces: Sequence[str]) -> None:
    """AdmittedError where one of them is barred no more."""
    for one in namespaces:
        if await _may_look(calls, one, unanswered=False):
            raise NamespaceAccessibleError(f"namespace {one} can be looked into again")


async def _may_look(calls: ApiTransport, namespace: str, *, unanswered: bool = True) -> bool:
    try:
        await calls.send(ApiRequest(Verb.LIST, "GET", collection_path(STREAM_APP, namespace), _ONE))
    except RejectedError:
        return False
    except UnansweredError:
        return unanswered
    return True
