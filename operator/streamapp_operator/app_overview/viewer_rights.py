"""The viewers of the page of all apps, and their namespaces: the API server says both."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Protocol

from streamapp_operator.controller.client.api_requests import ApiRequest, ApiTransport
from streamapp_operator.controller.client.resource_kinds import (
    STREAM_APP,
    SUBJECT_ACCESS_REVIEW,
    TOKEN_REVIEW,
    ResourceKind,
    Verb,
)

ANSWER_SECONDS: Final = 60.0
"""So long an answer of the API server counts: of a token, and of a right."""
MOST_ANSWERS: Final = 4096
REVIEWS_AT_A_TIME: Final = 8
_BEARER: Final = "bearer "
_USER_FIELDS: Final = {"username": "user", "uid": "uid", "groups": "groups", "extra": "extra"}
"""The fields of a user in a TokenReview, and the same in a SubjectAccessReview."""


class UnknownViewerError(Exception):
    """A request without a token that the API server knows; its text is for the viewer."""


class ViewerAccess(Protocol):
    """Says of a request of which namespaces it may see the apps."""

    async def visible(self, authorization: str, namespaces: Collection[str]) -> frozenset[str]:
        """Those of the namespaces; an UnknownViewerError where nobody is known by the header."""


class EveryNamespace:
    """The access of whoever started the page with credentials of their own: they read nothing else."""

    async def visible(self, _: str, namespaces: Collection[str]) -> frozenset[str]:
        """All of the namespaces."""
        return frozenset(namespaces)


@dataclass(slots=True)
class ReviewedAccess:
    """Access by a bearer token: a TokenReview says whose it is, SubjectAccessReviews what they may list."""

    transport: ApiTransport
    clock: Callable[[], float]
    _answers: dict[tuple[str, ...], tuple[float, Any]] = field(default_factory=dict)
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(REVIEWS_AT_A_TIME))

    async def visible(self, authorization: str, namespaces: Collection[str]) -> frozenset[str]:
        """Those whose StreamApps the owner of the token may list."""
        if not authorization.lower().startswith(_BEARER):
            raise UnknownViewerError("this page wants a bearer token of the cluster")
        token = authorization[len(_BEARER) :].strip()
        digest = sha256(token.encode()).hexdigest()
        subject = await self._remembered((digest,), lambda: self._subject(token))
        if subject is None:
            raise UnknownViewerError("the API server does not accept this token")
        if await self._may_list(digest, subject, ""):
            return frozenset(namespaces)
        asked = sorted(namespaces)
        answers = await asyncio.gather(*(self._may_list(digest, subject, one) for one in asked))
        return frozenset(one for one, allowed in zip(asked, answers, strict=True) if allowed)

    async def _subject(self, token: str) -> dict[str, Any] | None:
        """The user as a SubjectAccessReview names one; None where the token is nobody's."""
        status = await self._review(TOKEN_REVIEW, {"token": token}) if token else {}
        if not status.get("authenticated"):
            return None
        user = status["user"]
        return {name: user[field_] for field_, name in _USER_FIELDS.items() if user.get(field_)}

    async def _may_list(self, digest: str, subject: dict[str, Any], namespace: str) -> bool:
        """True if the user may list the StreamApps of a namespace; of all, for an empty name."""
        attributes = {
            "namespace": namespace,
            "verb": Verb.LIST,
            "group": STREAM_APP.group,
            "resource": STREAM_APP.plural,
        }

        async def review() -> bool:
            spec = {**subject, "resourceAttributes": attributes}
            status = await self._review(SUBJECT_ACCESS_REVIEW, spec)
            return bool(status.get("allowed"))

        return bool(await self._remembered((digest, namespace), review))

    async def _remembered(self, key: tuple[str, ...], ask: Callable[[], Any]) -> Any:
        """The answer of the last minute, or a new one; the oldest are forgotten first."""
        answered_at, answer = self._answers.get(key, (float("-inf"), None))
        if self.clock() - answered_at < ANSWER_SECONDS:
            return answer
        async with self._turns:
            answer = await ask()
        self._answers.pop(key, None)
        self._answers[key] = self.clock(), answer
        while len(self._answers) > MOST_ANSWERS:
            self._answers.pop(next(iter(self._answers)))
        return answer

    async def _review(self, kind: ResourceKind, spec: dict[str, Any]) -> dict[str, Any]:
        body = {"apiVersion": kind.api_version, "kind": kind.name, "spec": spec}
        path = f"/apis/{kind.api_version}/{kind.plural}"
        reply = await self.transport.send(ApiRequest(Verb.CREATE, "POST", path, body=body))
        status: dict[str, Any] = reply.body.get("status") or {}
        return status
