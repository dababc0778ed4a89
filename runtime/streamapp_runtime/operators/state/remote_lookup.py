"""What is told when a remote table gives no answer."""


class RemoteTableUnavailableError(Exception):
    """A remote table stays away: the app ends, and may be started again."""


class RemoteTableRetryError(RemoteTableUnavailableError):
    """A remote table stays away: its rows wait, and are tried again."""
