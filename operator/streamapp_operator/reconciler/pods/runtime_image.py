"""The image of an app and how it is pulled: the app's settings, else the installation's."""

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation


def runtime_image(app: StreamApp, installation: Installation) -> str:
    """The image of drivers and executors."""
    return app.spec.image or installation.image


def pull_policy(app: StreamApp, installation: Installation) -> str:
    """The pull policy of the image."""
    return app.spec.image_pull_policy or installation.image_pull_policy


def pull_secrets(app: StreamApp, installation: Installation) -> list[str]:
    """The names of the image pull Secrets."""
    return [secret.name for secret in app.spec.image_pull_secrets] or list(installation.image_pull_secrets)
