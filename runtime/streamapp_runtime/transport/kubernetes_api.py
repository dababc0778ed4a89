"""The Kubernetes API as a pod may use it: two ConfigMaps and its executors, by the account mounted into it.

Plain HTTP of the standard library, so that the image of drivers needs no client.
"""

import json
import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from urllib.request import Request, urlopen

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
REQUEST_SECONDS: Final = 10.0
"""How long a call may take."""
WATCH_SECONDS: Final = 240
"""How long a watch continues before it is started again."""
API_ERRORS: Final = (OSError, HTTPException, ValueError, KeyError)
"""What may come of a call: refused, cut off, or an answer that is none."""


@dataclass(frozen=True, slots=True)
class KubernetesApi:
    """The address of the API server, and who asks. Errors are OSErrors: refused, away, or too slow."""

    url: str
    token: Path  # read again for each call: it is renewed while the pod runs
    authority: Path
    namespace: str

    @classmethod
    def of_pod(cls) -> "KubernetesApi":
        """As every pod finds it."""
        host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
        host = f"[{host}]" if ":" in host else host
        account = Path(os.environ.get("STREAMAPP_ACCOUNT", SERVICE_ACCOUNT))
        namespace = (account / "namespace").read_text("utf-8").strip()
        return cls(f"https://{host}:{port}", account / "token", account / "ca.crt", namespace)

    def config_map(self, name: str) -> dict[str, Any]:
        """A ConfigMap as it is now."""
        with self._request("GET", self._path(name), REQUEST_SECONDS) as answer:
            document: dict[str, Any] = json.load(answer)
        return document

    def patch(self, name: str, data: Mapping[str, str]) -> None:
        """Put these entries into a ConfigMap; others stay."""
        self._patch(self._path(name), {"data": dict(data)})

    def annotate(self, name: str, annotations: Mapping[str, str | None], manager: str) -> None:
        """Give a ConfigMap these annotations, or take those of None away, as a field manager of this name."""
        path = f"{self._path(name)}?fieldManager={quote(manager)}"
        self._patch(path, {"metadata": {"annotations": dict(annotations)}})

    def changes(self, name: str, version: str) -> Iterator[dict[str, Any]]:
        """A ConfigMap each time that it changes, until the watch is over."""
        query = f"watch=true&fieldSelector=metadata.name%3D{quote(name)}&resourceVersion={quote(version)}"
        path = f"{self._path('')}?{query}&timeoutSeconds={WATCH_SECONDS}"
        with self._request("GET", path, WATCH_SECONDS + REQUEST_SECONDS) as answer:
            for line in answer:
                event = json.loads(line)
                if event["type"] not in {"ADDED", "MODIFIED"}:
                    return  # it is gone, or the version is too old: ask for it again
                yield event["object"]

    def pods(self, labels: str) -> list[dict[str, Any]]:
        """The pods with these labels, as they are now."""
        path = f"/api/v1/namespaces/{quote(self.namespace)}/pods?labelSelector={quote(labels)}"
        with self._request("GET", path, REQUEST_SECONDS) as answer:
            items: list[dict[str, Any]] = json.load(answer)["items"]
        return items

    def _patch(self, path: str, changes: Mapping[str, Any]) -> None:
        with self._request("PATCH", path, REQUEST_SECONDS, json.dumps(changes).encode()) as answer:
            answer.read()

    def _path(self, name: str) -> str:
        return f"/api/v1/namespaces/{quote(self.namespace)}/configmaps" + f"/{quote(name)}" * bool(name)

    def _request(self, method: str, path: str, seconds: float, body: bytes | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token.read_text('utf-8').strip()}"}
        headers |= {"Content-Type": "application/merge-patch+json"} if body else {}
        request = Request(self.url + path, body, headers, method=method)  # noqa: S310 - always https
        context = ssl.create_default_context(cafile=str(self.authority))
        return urlopen(request, timeout=seconds, context=context)  # noqa: S310
