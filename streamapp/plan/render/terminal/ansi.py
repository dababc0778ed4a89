"""Colour for terminals, or none: what is written then is the same without it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours a text where `on`. Texts are padded before they are painted: escapes take no room."""

    on: bool

    def bold(self, text: str) -> str:
        """For headings and names."""
        return self._with("1", text)

    def dim(self, text: str) -> str:
        """For what is read second."""
        return self._with("2", text)

    def good(self, text: str) -> str:
        """For what agrees."""
        return self._with("32", text)

    def bad(self, text: str) -> str:
        """For what does not."""
        return self._with("1;31", text)

    def _with(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text
