"""Access reviews: asks the API server for each verb of the table of rights."""

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

    def request_body(self) -> dict[str, Any]:
        """The body of the SelfSubjectAccessReview."""
        kind = self.right.kind
        attributes = {
            "namespace": self.namespace or "",
            "verb": self.verb,
            "group": kind.group,
            "resource": kind.plural,
            "subresource": self.right.subresource,
        }
        return {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }


def required_reviews(
    namespaces: Sequence[str], lease_namespace: str, apps_page: bool = False
) -> Iterator[AccessReview]:
    """The reviews for an operator of these namespaces; an empty sequence means all namespaces."""
    for right in RIGHTS:
        if right.page_only and not apps_page:
            continue
        review_namespaces: Sequence[str | None] = namespaces or [None]
        if right.lead_only:
            review_namespaces = [lease_namespace]
        elif not right.kind.namespaced:
            review_namespaces = [] if namespaces and not right.page_only else [None]
        yield from (
            AccessReview(right, verb, namespace) for namespace in review_namespaces for verb in right.verbs
        )


async def denied_reviews(
    transport: ApiTransport, reviews: Iterator[AccessReview]
) -> AsyncIterator[AccessReview]:
    """The reviews that the API server denies."""
    for review in reviews:
        reply = await transport.send(
            ApiRequest(Verb.CREATE, "POST", ACCESS_REVIEWS_PATH, body=review.request_body())
        )
        if not reply.body["status"]["allowed"]:
            yield review
