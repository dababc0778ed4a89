"""The image that an app runs in, and how it is pulled: what the app says, else the installation."""

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation


def runtime_image(app: StreamApp, installation: Installation) -> str:
    """The image of drivers and executors."""
    return app.spec.image or installation.image


def pull_policy(app: StreamApp, installation: Installation) -> str:
    """When it is pulled."""
    return app.spec.image_pull_policy or installation.image_pull_policy


def pull_secrets(app: StreamApp, installation: Installation) -> list[str]:
    """The names of the Secrets that it is pulled with."""
    return [one.name for one in app.spec.image_pull_secrets] or list(installation.image_pull_secrets)
