"""How the API server is reached: from a pod by its service account, from elsewhere by a kubeconfig."""

import os
from pathlib import Path

from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config import config_exception, incluster_config, kube_config

USUAL = kube_config.KUBE_CONFIG_DEFAULT_LOCATION
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
IN_A_POD = "KUBERNETES_SERVICE_HOST"


class NoAccessError(Exception):
    """No way to the API server was found, or what was found cannot be used."""


async def access(kubeconfig: Path | None = None, context: str | None = None) -> Configuration:
    """Where the API server is and who we are there; a kubeconfig that is named goes before all else."""
    configuration = Configuration()
    configuration.client_session_kwargs = {"trust_env": proxied()}
    said = str(kubeconfig or os.environ.get("KUBECONFIG") or "")
    try:
        if os.environ.get(IN_A_POD) and not said and not context:
            incluster_config.load_incluster_config(configuration)
            return configuration
        files = said or USUAL
        if not any(Path(one).expanduser().exists() for one in files.split(os.pathsep) if one):
            raise NoAccessError(f"there is no kubeconfig {files}; name one with --kubeconfig")
        await kube_config.load_kube_config(said or None, context, configuration, persist_config=False)
    except (config_exception.ConfigException, OSError) as error:
        raise NoAccessError(str(error)) from error
    return configuration


def proxied() -> bool:
    """Whether the environment names a proxy: looking it up for each call costs a thread each time."""
    return any(os.environ.get(name) for name in _PROXIES)
