"""How the API server is reached: from a pod by its service account, from elsewhere by a kubeconfig."""

import os
from pathlib import Path

from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config import config_exception, incluster_config, kube_config

DEFAULT_KUBECONFIG = kube_config.KUBE_CONFIG_DEFAULT_LOCATION
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
IN_POD_VARIABLE = "KUBERNETES_SERVICE_HOST"


class ClientConfigurationError(Exception):
    """No way to the API server was found, or what was found cannot be used."""


async def load_configuration(kubeconfig: Path | None = None, context: str | None = None) -> Configuration:
    """Where the API server is and who we are there; a kubeconfig that is named goes before all else."""
    configuration = Configuration()
    configuration.client_session_kwargs = {"trust_env": uses_proxy()}
    said = str(kubeconfig or os.environ.get("KUBECONFIG") or "")
    try:
        if os.environ.get(IN_POD_VARIABLE) and not said and not context:
            incluster_config.load_incluster_config(configuration)
            return configuration
        files = said or DEFAULT_KUBECONFIG
        if not any(Path(one).expanduser().exists() for one in files.split(os.pathsep) if one):
            raise ClientConfigurationError(f"there is no kubeconfig {files}; name one with --kubeconfig")
        await kube_config.load_kube_config(said or None, context, configuration, persist_config=False)
    except (config_exception.ConfigException, OSError) as error:
        raise ClientConfigurationError(str(error)) from error
    return configuration


def uses_proxy() -> bool:
    """Whether the environment names a proxy: looking it up for each call costs a thread each time."""
    return any(os.environ.get(name) for name in _PROXIES)
