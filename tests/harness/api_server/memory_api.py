"""An API server in memory, for thousands of steps: as much of the real one as the operator's calls need.

What it does is held against the real one: scenes of `ON_BOTH_SERVERS` are played on each.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.controller.client.api_requests import ApiReply, ApiRequest
from streamapp_operator.reconciler.facts.timestamps import format_timestamp

Object = dict[str, Any]
BOUND_GRACE = 60
FORBIDDEN = 403


class Refused(Exception):  # noqa: N818 - an answer, not a fault
    """An answer with a code of its own."""

    def __init__(self, code: int, reason: str, message: str = "") -> None:
        super().__init__(message or reason)
        self.code, self.reason = code, reason


def _copy(value: Any) -> Any:
    """The value as JSON carries it, which is several times faster than a deep copy."""
    return json.loads(json.dumps(value))


class MemoryApi:
    """Objects by path, with versions, generations, owners' uids, bindings and graceful deletion."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.objects: dict[str, Object] = {}
        self._within: defaultdict[str, dict[str, Object]] = defaultdict(dict)  # by collection, then path
        self.created: list[str] = []  # every path under which an object was made, ever
        self.on_create: Callable[[str, Object], None] = lambda path, made: None
        self.admit: Callable[[Object], None] = lambda made: None
        """Raises `Refused` for what is not to be created, be it for a trial."""
        self.on_change: Callable[[Object], None] = lambda new: None
        self._clock = clock
        self._versions, self._uids = count(1), count(1)

    def ask(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        code, answer = self.answer(method, path, body, content)
        assert code < 400, f"{method} {path}: {code} {answer}"
        return answer

    def call(
        self, method: str, path: str, body: Any = None, content: str = "application/json"
    ) -> tuple[int, str]:
        code, answer = self.answer(method, path, body, content)
        return code, json.dumps(answer)

    def answer(self, method: str, path: str, body: Any, content: str) -> tuple[int, Any]:
        url = urlsplit(path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        try:
            return 200, _copy(self._answer(method, url.path, query, _copy(body), content))
        except Refused as refused:
            return refused.code, {"reason": refused.reason, "message": str(refused), "metadata": {}}

    def _answer(self, method: str, path: str, query: dict[str, str], body: Any, content: str) -> Any:
        if method == "POST" and path.endswith("/binding"):
            return self._bind(path.removesuffix("/binding"), body)
        if method == "POST":
            self.admit(body)
        if method == "POST" and query.get("dryRun") == "All":
            return body
        if method == "POST":
            return self._create(f"{path}/{body['metadata']['name']}", body)
        part = path.removesuffix("/status") if path.endswith("/status") else path
        if method == "PATCH":
            return self._patch(part, body, content, status=part != path, dry_run="dryRun" in query)
        if method == "DELETE":
            return self._delete(path, body or {}, query)
        return self.objects[path] if path in self.objects else self._list(path, query)

    def _list(self, path: str, query: dict[str, str]) -> Object:
        if not path.endswith("s") or path.count("/") not in {5, 6, 3, 4}:
            raise Refused(404, "NotFound")
        wanted = query.get("labelSelector", "")
        pairs = [part.partition("=") for part in wanted.split(",") if part]
        found = [
            one
            for _, one in sorted(self._within[path].items())
            if _fits(one["metadata"].get("labels") or {}, pairs)
            and _has_fields(one, query.get("fieldSelector", ""))
        ]
        return {"items": found, "metadata": {}}

    def _create(self, path: str, body: Object) -> Object:
        if path in self.objects:
            raise Refused(409, "AlreadyExists")
        self.on_create(path, body)
        stamp = {"uid": f"uid-{next(self._uids)}", "creationTimestamp": format_timestamp(self._clock())}
        stamp["namespace"] = path.split("/")[-3] if "/namespaces/" in path else ""
        made = {**body, "metadata": {"generation": 1, **body["metadata"], **stamp}}
        if path.split("/")[-2] == "pods":
            made.setdefault("status", {"phase": "Pending"})
        self.created.append(path)
        return self._store(path, made)

    def _store(self, path: str, new: Object) -> Object:
        before = self.objects.get(path)
        if before is not None and _unversioned(before) == _unversioned(new):
            return before
        if before is not None and before.get("spec") != new.get("spec"):
            new["metadata"]["generation"] = before["metadata"]["generation"] + 1
        new["metadata"]["resourceVersion"] = str(next(self._versions))
        self.objects[path] = self._within[path.rpartition("/")[0]][path] = new
        self.on_change(new)
        return new

    def _patch(self, path: str, body: Any, content: str, *, status: bool, dry_run: bool) -> Object:
        before = self.objects.get(path)
        if before is None:
            if content != "application/apply-patch+yaml":
                raise Refused(404, "NotFound")
            return self._create(path, body)
        if content == "application/json-patch+json":
            changed = _stepped(before, body)
            return changed if dry_run else self._store(path, changed)
        merged = _merged(before, {"status": body.get("status")} if status else body)
        return self._store(path, merged)

    def _bind(self, path: str, body: Object) -> Object:
        pod = _copy(self.objects[path])
        pod["spec"]["nodeName"] = body["target"]["name"]
        self._store(path, pod)
        return {}

    def _delete(self, path: str, options: Object, query: dict[str, str]) -> Object:
        before = self.objects.get(path)
        if before is None:
            raise Refused(404, "NotFound")
        uid = (options.get("preconditions") or {}).get("uid")
        if uid and uid != before["metadata"]["uid"]:
            raise Refused(409, "Conflict")
        grace = query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
        running = before.get("spec", {}).get("nodeName") and _works(before)
        if running and (grace is None or int(grace) > 0):
            leaving = _copy(before)
            # Only the first request to go sets the hour.
            leaving["metadata"].setdefault("deletionTimestamp", format_timestamp(self._clock() + BOUND_GRACE))
            return self._store(path, leaving)
        self._forget(path)
        self._collect_secrets(before["metadata"]["uid"])
        return before

    def _forget(self, path: str) -> None:
        self._within[path.rpartition("/")[0]].pop(path)
        del self.objects[path]

    def _collect_secrets(self, uid: str) -> None:
        """The Secrets of an object that is gone go too, as by the garbage collector."""
        secrets = [path for path in self.objects if "/secrets/" in path]
        for path in secrets:
            owners = self.objects[path]["metadata"].get("ownerReferences") or ()
            if uid in {owner["uid"] for owner in owners}:
                self._forget(path)


def _works(pod: Object) -> bool:
    return pod.get("status", {}).get("phase") not in {"Succeeded", "Failed"}


def _has_fields(made: Object, selector: str) -> bool:
    """True if an object has the fields, each by its path."""
    for path, _, value in (part.partition("=") for part in selector.split(",") if part):
        field: Any = made
        for name in path.split("."):
            field = field.get(name, "")
        if field != value:
            return False
    return True


def _fits(labels: dict[str, str], pairs: list[tuple[str, str, str]]) -> bool:
    return all(labels.get(name) == value if sign else name in labels for name, sign, value in pairs)


def _merged(before: Any, change: Any) -> Any:
    if not (isinstance(before, dict) and isinstance(change, dict)):
        return _copy(change)
    found = _copy(before)
    for name, value in change.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = _merged(before.get(name), value)
    return found


def _stepped(before: Object, steps: list[Object]) -> Object:
    """The object after a JSON patch; refused where a test fails, or another version is there."""
    changed = _copy(before)
    for step in steps:
        *way, name = step["path"].split("/")[1:]
        holder = changed
        for part in way:
            holder = holder[part]
        if step["op"] == "test" and holder[name] != step["value"]:
            raise Refused(422, "Invalid", "the server rejected our request due to an error in our request")
        if name == "resourceVersion" and holder[name] != step["value"]:
            raise Refused(409, "Conflict")
        holder[name] = step["value"]
    return dict(changed)


def _unversioned(one: Object) -> Object:
    return {**one, "metadata": {k: v for k, v in one["metadata"].items() if k != "resourceVersion"}}


class MemoryCalls:
    """The operator's calls, answered from memory."""

    def __init__(self, api: MemoryApi) -> None:
        self._api = api

    async def send(self, call: ApiRequest, limit: float = 0.0) -> ApiReply:
        path = call.path + ("?" + "&".join(f"{k}={v}" for k, v in call.query) if call.query else "")
        code, body = self._api.answer(call.method, path, call.body, call.content)
        if code == FORBIDDEN and code not in call.expected:
            raise RejectedError(code, body["reason"], body["message"])
        assert code < 400 or code in call.expected, (call, code, body)
        return ApiReply(code, body)

    async def close(self) -> None:
        pass
