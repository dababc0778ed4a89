"""kopf's way to the API server, made of the one that all other calls go."""

import kopf
from kubernetes.aio.client.configuration import Configuration

from streamapp_operator.controller.client.client_configuration import uses_proxy


def kopf_connection(found: Configuration) -> kopf.ConnectionInfo:
    """Where the API server is and who we are there, as kopf wants it said."""
    scheme, _, token = (found.api_key.get("BearerToken") or "").rpartition(" ")
    return kopf.ConnectionInfo(
        server=found.host,
        ca_path=found.ssl_ca_cert or None,
        ca_data=found.ca_cert_data or None,
        insecure=not found.verify_ssl,
        scheme=scheme.capitalize() or "Bearer" if token else None,
        token=token or None,
        certificate_path=found.cert_file or None,
        private_key_path=found.key_file or None,
        proxy_url=found.proxy or None,
        trust_env=uses_proxy(),
    )
