"""Configuration of the API client: a pod's service account, or a kubeconfig."""

import os
from pathlib import Path

from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config import config_exception, incluster_config, kube_config
from yaml import YAMLError

from streamapp.spec.text.yaml_loader import yaml_error

DEFAULT_KUBECONFIG = kube_config.KUBE_CONFIG_DEFAULT_LOCATION
_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy")
IN_POD_VARIABLE = "KUBERNETES_SERVICE_HOST"


class ClientConfigurationError(Exception):
    """There is no configuration for the API client, or it cannot be used."""


async def load_configuration(kubeconfig: Path | None = None, context: str | None = None) -> Configuration:
    """The API server's address and the credentials; a kubeconfig that is passed in takes precedence."""
    configuration = Configuration()
    configuration.client_session_kwargs = {"trust_env": uses_proxy()}
    kubeconfig_paths = str(kubeconfig or os.environ.get("KUBECONFIG") or "")
    files = kubeconfig_paths or DEFAULT_KUBECONFIG
    try:
        if os.environ.get(IN_POD_VARIABLE) and not kubeconfig_paths and not context:
            incluster_config.load_incluster_config(configuration)
            return configuration
        if not any(Path(path).expanduser().exists() for path in files.split(os.pathsep) if path):
            raise ClientConfigurationError(f"there is no kubeconfig {files}; name one with --kubeconfig")
        await kube_config.load_kube_config(
            kubeconfig_paths or None, context, configuration, persist_config=False
        )
    except (config_exception.ConfigException, OSError) as error:
        raise ClientConfigurationError(str(error)) from error
    except YAMLError as error:
        line, message = yaml_error(error)
        place = f"line {line}: " if line else ""
        raise ClientConfigurationError(f"{files} is no YAML: {place}{message}") from error
    return configuration


def uses_proxy() -> bool:
    """True if the environment names a proxy: aiohttp would look that up on a thread for each request."""
    return any(os.environ.get(name) for name in _PROXIES)
