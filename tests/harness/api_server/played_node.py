"""A node of a real API server, whose kubelet a test plays."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.harness.api_server.api_server import ApiServer


def kubelet_tls(server: ApiServer) -> ssl.SSLContext:
    """What a kubelet of this API server serves by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.folder / "apiserver.crt", server.folder / "apiserver.key")
    return context


@contextmanager
def played_node(server: ApiServer, name: str, kubelet_port: int) -> Iterator[None]:
    """A node whose kubelet is at a port of this machine."""
    server.ask("POST", "/api/v1/nodes", {"metadata": {"name": name}})
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
    }
    path = f"/api/v1/nodes/{name}"
    server.ask("PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json")
    try:
        yield
    finally:
        server.ask("DELETE", path)


@contextmanager
def node_with_kubelet(server: ApiServer, name: str, kubelet: type[BaseHTTPRequestHandler]) -> Iterator[None]:
    """A node whose kubelet answers requests so."""
    with ThreadingHTTPServer(("127.0.0.1", 0), kubelet) as serving:
        serving.socket = kubelet_tls(server).wrap_socket(serving.socket, server_side=True)
        thread = Thread(target=serving.serve_forever, args=(0.05,))
        thread.start()
        try:
            with played_node(server, name, serving.server_port):
                yield
        finally:
            serving.shutdown()
            thread.join()
