"""The error for bytes that are no answer of a broker."""


class MalformedError(Exception):
    """Bytes that cannot be what they should be; nothing of them is used."""
