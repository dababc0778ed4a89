"""A real API server for tests: etcd and kube-apiserver as processes, with RBAC on and our CRD installed."""

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from signal import SIGKILL
from typing import Any

import yaml

from streamapp_operator.controller.rbac import operator_roles
from tests.harness.machine.processes import Child, free_port, until

REPOSITORY = Path(__file__).parents[3]
BUILD = Path(__file__).parent / "assets" / "build"
CRD = REPOSITORY / "crds" / "streamapps.streamapp.dev.yaml"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
START_SECONDS = 240.0
"""Three are enough on a machine that has nothing else to do."""
GOGC = "400"
"""How much garbage Go may leave, in per cent: finding it takes a fifth of its CPU by default."""
SERVER_NAMES = ("IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default.svc")
TOKENS = {"admin": "system:masters", "operator": "", "bounded": "", "nobody": ""}
"""Users, each with a token of the same name, and their group. What `operator` may do is RBAC's to say."""


def assets() -> Path | None:
    """Where the programs are, if they are there."""
    found = subprocess.run([BUILD, "--look"], capture_output=True, text=True, check=False)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def kubeconfig_text(cluster: dict[str, str], user: str) -> str:
    """The file by which a user, whose token is the name, gets to a cluster."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": user, "user": {"token": user}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        "current-context": "test",
    }
    return yaml.safe_dump(content)


@dataclass(frozen=True, slots=True)
class ApiServer:
    """An API server that runs."""

    programs: Path
    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def kubeconfig(self, user: str = "admin", url: str = "") -> Path:
        """A file by which one of TOKENS' users gets there, by another way than straight if a URL is given."""
        cluster = {"server": url or self.url, "certificate-authority": str(self.folder / "apiserver.crt")}
        path = self.folder / f"kubeconfig-{user}-{cluster['server'].rpartition(':')[2]}.yaml"
        path.write_text(kubeconfig_text(cluster, user), encoding="utf-8")
        return path

    def kubectl(self, *args: str, given: Any = None) -> subprocess.CompletedProcess[str]:
        """Run kubectl as the admin, with an object (or several) on its standard input."""
        objects = given if isinstance(given, list) else [given] if given is not None else []
        return subprocess.run(
            [self.programs / "kubectl", f"--kubeconfig={self.kubeconfig()}", *args],
            input="---\n".join(json.dumps(one) + "\n" for one in objects),
            capture_output=True,
            text=True,
            check=False,
        )

    def ask(self, method: str, path: str, body: Any = None, content: str = "application/json") -> Any:
        """One call as the admin: what came; an AssertionError with what was said if it was refused."""
        code, said = self.call(method, path, body, content)
        assert code < 400, f"{method} {path}: {code} {said}"
        return json.loads(said)

    def call(
        self, method: str, path: str, body: Any = None, content: str = "application/json"
    ) -> tuple[int, str]:
        """One call as the admin: the code and the text that came."""
        connection = HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.trusting())
        with closing(connection):
            given = None if body is None else json.dumps(body)
            connection.request(
                method, path, given, {"Authorization": "Bearer admin", "Content-Type": content}
            )
            reply = connection.getresponse()
            return reply.status, reply.read().decode()

    def trusting(self) -> ssl.SSLContext:
        """What knows it by its certificate."""
        return ssl.create_default_context(cafile=str(self.folder / "apiserver.crt"))

    def answers(self, path: str) -> bool:
        """Whether there is an answer that is no refusal."""
        try:
            return self.call("GET", path)[0] == 200
        except OSError:
            return False

    def new_namespace(self, name: str) -> None:
        """A namespace in which operators may elect who leads."""
        self.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        self.allow_election(name)

    def allow_in(self, namespace: str, user: str) -> None:
        """The rights of an operator that is bounded to namespaces, for one of them."""
        within = f"{RBAC}/namespaces/{namespace}"
        for role in (
            operator_roles.namespace_role(namespace),
            operator_roles.leader_election_role(namespace),
        ):
            name = role["metadata"]["name"]
            if self.call("GET", f"{within}/roles/{name}")[0] != 200:
                self.ask("POST", f"{within}/roles", role)
            self.ask("POST", f"{within}/rolebindings", _bound("Role", name, f"{name}-{user}", user))

    def allow_election(self, namespace: str) -> None:
        role = operator_roles.leader_election_role(namespace)
        within = f"{RBAC}/namespaces/{namespace}"
        self.ask("POST", f"{within}/roles", role)
        self.ask("POST", f"{within}/rolebindings", _bound("Role", role["metadata"]["name"]))


def _bound(kind: str, name: str, binding: str = "", user: str = "operator") -> dict[str, Any]:
    """A role given to an operator."""
    return {
        "metadata": {"name": binding or name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }


@contextmanager
def running(programs: Path, folder: Path) -> Iterator[ApiServer]:
    """An API server for as long as this lasts."""
    clients, peers, port = free_port(), free_port(), free_port()
    server = ApiServer(programs, folder, port)
    _write_keys(folder)
    environment = os.environ | {"GOGC": GOGC}
    with (
        Child([programs / "etcd", *_etcd(folder, clients, peers)], folder / "etcd.log", environment),
        Child(
            [programs / "kube-apiserver", *_api_server(folder, clients, port)],
            *(folder / "api.log", environment),
        ) as api,
    ):
        until(lambda: server.answers("/readyz"), START_SECONDS, api)
        server.ask(
            "POST",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
            yaml.safe_load(CRD.read_text(encoding="utf-8")),
        )
        until(lambda: server.answers("/apis/streamapp.dev/v1alpha1/streamapps"), START_SECONDS, api)
        for role in (operator_roles.cluster_role(), operator_roles.apps_page_role()):
            server.ask("POST", RBAC + "/clusterroles", role)
            server.ask("POST", RBAC + "/clusterrolebindings", _bound("ClusterRole", role["metadata"]["name"]))
        yield server
        api.signal(SIGKILL)  # asked to end it would wait for those who watch


def _write_keys(folder: Path) -> None:
    openssl = shutil.which("openssl")
    assert openssl, "openssl is needed to make a key"
    commands: list[list[str | Path]] = [
        ["genrsa", "-out", folder / "accounts.key", "2048"],
        # Its own key would be one of RSA, and every test opens connections by the hundred.
        [
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-keyout", folder / "apiserver.key", "-out", folder / "apiserver.crt", "-days", "2"),
            *("-subj", "/CN=127.0.0.1", "-addext", f"subjectAltName={','.join(SERVER_NAMES)}"),
            *("-addext", "keyUsage=critical,digitalSignature,keyCertSign"),
        ],
    ]
    for arguments in commands:
        subprocess.run([openssl, *arguments], check=True, capture_output=True)
    lines = [f'{user},{user},{user},"{group}"' for user, group in TOKENS.items()]
    (folder / "tokens.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _etcd(folder: Path, clients: int, peers: int) -> list[str]:
    here = f"http://127.0.0.1:{clients}"
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={here}",
        f"--advertise-client-urls={here}",
        f"--listen-peer-urls=http://127.0.0.1:{peers}",
        "--unsafe-no-fsync",
        "--log-level=error",
    ]


def _api_server(folder: Path, clients: int, port: int) -> list[str]:
    return [
        f"--etcd-servers=http://127.0.0.1:{clients}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={folder}",
        f"--service-account-key-file={folder / 'accounts.key'}",
        f"--service-account-signing-key-file={folder / 'accounts.key'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--disable-admission-plugins=ServiceAccount",  # whose accounts a controller makes that is not here
        "--allow-privileged=true",
        "--v=1",
    ]
