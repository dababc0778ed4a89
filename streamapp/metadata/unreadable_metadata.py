"""The refusals of stored metadata that is damaged, or written by a later program."""

from streamapp.jobmodel.unreadable_data import UnreadableError


class StoreUnreadableError(UnreadableError):
    """The file of a store could not be read. It is never taken for an empty one."""


class LocalityUnreadableError(UnreadableError):
    """A remembered locality could not be read. It may be dropped: locality only ever saves time."""
