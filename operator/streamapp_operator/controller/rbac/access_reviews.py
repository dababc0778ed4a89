"""Whether the API server grants what the table of rights asks for: each verb is asked for by itself."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.resource_kinds import Verb
from streamapp_operator.controller.rbac.operator_rights import RIGHTS, Right

ACCESS_REVIEWS_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True, slots=True)
class AccessReview:
    """One verb of one right, in a namespace or in all of them."""

    right: Right
    verb: str
    namespace: str | None

    def __str__(self) -> str:
        kind = self.right.kind
        resource = f"{self.right.resource}.{kind.group}" if kind.group else self.right.resource
        if not kind.namespaced:
            return f"{self.verb} {resource}"
        return f"{self.verb} {resource} in {self.namespace or 'all namespaces'}"

    def review(self) -> dict[str, Any]:
        """As the API server is asked it."""
        kind = self.right.kind
        asked = {
            "namespace": self.namespace or "",
            "verb": self.verb,
            "group": kind.group,
            "resource": kind.plural,
            "subresource": self.right.part,
        }
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }


def required_reviews(namespaces: Sequence[str], lease_namespace: str) -> Iterator[AccessReview]:
    """All that an operator of these namespaces needs; of all namespaces where none is named."""
    for right in RIGHTS:
        places: Sequence[str | None] = namespaces or [None]
        if right.lead_only:
            places = [lease_namespace]
        elif not right.kind.namespaced:
            places = [] if namespaces else [None]
        yield from (AccessReview(right, verb, place) for place in places for verb in right.verbs)


async def denied_reviews(calls: ApiTransport, asked: Iterator[AccessReview]) -> AsyncIterator[AccessReview]:
    """Those that are answered with no."""
    for question in asked:
        reply = await calls.send(ApiRequest(Verb.CREATE, "POST", ACCESS_REVIEWS_PATH, body=question.review()))
        if not reply.body["status"]["allowed"]:
            yield question
