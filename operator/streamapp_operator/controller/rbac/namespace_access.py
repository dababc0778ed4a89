"""The namespaces that the operator may read: deleting a namespace deletes the operator's role in it."""

import logging
from collections.abc import Sequence

from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError
from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.manifest import collection_path
from streamapp_operator.controller.client.resource_kinds import STREAM_APP, Verb

_LIMIT_ONE = (("limit", "1"),)
_log = logging.getLogger(__name__)


class NamespaceAccessibleError(Exception):
    """A namespace that was inaccessible at the start became accessible: the process has to restart."""


async def accessible_namespaces(transport: ApiTransport, namespaces: Sequence[str]) -> tuple[str, ...]:
    """The accessible ones of these namespaces; all of them where none is, since then the rights are wrong."""
    accessible = [namespace for namespace in namespaces if await _is_accessible(transport, namespace)]
    for inaccessible in namespaces if not accessible else sorted(set(namespaces) - set(accessible)):
        _log.warning(
            "we may not look into namespace %s: is it, or our role there, gone?",
            inaccessible,
        )
    return tuple(accessible) or tuple(namespaces)


async def expect_inaccessible(transport: ApiTransport, namespaces: Sequence[str]) -> None:
    """NamespaceAccessibleError where one of these namespaces became accessible."""
    for namespace in namespaces:
        if await _is_accessible(transport, namespace, unanswered=False):
            raise NamespaceAccessibleError(f"namespace {namespace} can be looked into again")


async def _is_accessible(transport: ApiTransport, namespace: str, *, unanswered: bool = True) -> bool:
    try:
        await transport.send(ApiRequest(Verb.LIST, "GET", collection_path(STREAM_APP, namespace), _LIMIT_ONE))
    except RejectedError:
        return False
    except UnansweredError:
        return unanswered
    return True
