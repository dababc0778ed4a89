"""Subjects of a registry: their newest schemas, and new ones."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from streamapp_runtime.systems.kafka.schema_registry.registry_requests import (
    NotRegisteredError,
    RegistryRequests,
    UnfitRequestError,
)


class IncompatibleSchemaError(Exception):
    """The registry does not take a schema for a subject; the message has its words."""


@dataclass(frozen=True, slots=True)
class RegistrySubjects:
    """The subjects, by name."""

    requests: RegistryRequests

    def newest(self, subject: str) -> int | None:
        """The id of the newest schema; None where there is no such subject."""
        try:
            return int(self.requests.get(f"/subjects/{quote(subject, safe='')}/versions/latest")["id"])
        except NotRegisteredError:
            return None

    def versions(self, subject: str) -> list[int]:
        """The numbers of the versions, the oldest first; none where there is no such subject."""
        try:
            numbers = self.requests.get_list(f"/subjects/{quote(subject, safe='')}/versions")
        except NotRegisteredError:
            return []
        return sorted(int(number) for number in numbers)

    def register(self, subject: str, text: str, kind: str = "AVRO") -> int:
        """The id of a schema, which is registered if it is not; IncompatibleSchemaError if refused."""
        name, body = quote(subject, safe=""), {"schema": text, "schemaType": kind}
        try:
            self._check(f"/compatibility/subjects/{name}/versions/latest?verbose=true", body)
            return int(self.requests.post(f"/subjects/{name}/versions", body)["id"])
        except UnfitRequestError as unfit:
            raise IncompatibleSchemaError(str(unfit)) from None

    def _check(self, path: str, body: dict[str, Any]) -> None:
        try:
            answer = self.requests.post(path, body)
        except NotRegisteredError:
            return  # the first one of a subject is compatible with all there are
        if not answer.get("is_compatible", True):
            words = "; ".join(str(message) for message in answer.get("messages") or ())
            raise IncompatibleSchemaError(words or "it is not compatible with the newest version")
