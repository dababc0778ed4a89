"""A token endpoint of OAuth 2.0, whose tokens have no signature, as a broker takes them by default."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs

from tests.harness.kafka.json_answers import JsonAnswers, answering

CLIENT, SECRET = "app", "correct-horse-battery-staple"


@dataclass(slots=True)
class TokenEndpoint:
    """The endpoint; what it answers can be changed while it runs."""

    url: str = ""
    good_seconds: float = 300.0
    redirect: str = ""
    scopes: list[str] = field(default_factory=list)  # of each token that was given out

    def answer(self, authorization: str, form: dict[str, list[str]]) -> tuple[int, dict[str, object]]:
        """The status and the fields of an answer."""
        expected = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization != f"Basic {expected}":
            return 401, {"error": "invalid_client", "error_description": "no such secret"}
        if form.get("grant_type") != ["client_credentials"]:
            return 400, {"error": "unsupported_grant_type"}
        self.scopes.extend(form.get("scope", [""]))
        token = unsigned_token(CLIENT, self.good_seconds)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.good_seconds}


def unsigned_token(subject: str, seconds: float) -> str:
    """A JSON web token without a signature, good for so long."""
    now = time.time()
    claims = {"sub": subject, "iat": int(now) - 10, "exp": int(now + seconds)}
    return ".".join([_encoded({"alg": "none"}), _encoded(claims), ""])


def granted_token() -> tuple[str, float]:
    """A token as a function of an app's own gives it."""
    return unsigned_token(CLIENT, 300.0), time.time() + 300.0


def _encoded(fields: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


@contextmanager
def token_endpoint() -> Iterator[TokenEndpoint]:
    """The endpoint, while it answers."""
    endpoint = TokenEndpoint()

    class Handler(JsonAnswers, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            if endpoint.redirect:
                self.send_response(307)
                self.send_header("Location", endpoint.redirect)
                self.end_headers()
                return
            status, fields = endpoint.answer(self.headers.get("Authorization", ""), form)
            self.send_json(status, json.dumps(fields))

    with answering(Handler) as url:
        endpoint.url = f"{url}/token"
        yield endpoint
