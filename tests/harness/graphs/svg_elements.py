"""Reads a drawing's XML; text that is not well-formed fails the test that asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.parsers import expat


@dataclass
class Element:
    tag: str
    attributes: Mapping[str, str]
    inside: list["Element"] = field(default_factory=list)
    text: str = ""

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def all(self) -> list["Element"]:
        return [self, *(below for child in self.inside for below in child.all())]

    def of(self, *classes: str) -> list["Element"]:
        return [one for one in self.all() if set(classes) <= set(one.classes)]

    def words(self) -> str:
        return "".join(one.text for one in self.all())


def parsed(text: str) -> Element:
    top = Element("", {})
    way = [top]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        way[-1].inside.append(Element(tag, attributes))
        way.append(way[-1].inside[-1])

    def end(_tag: str) -> None:
        way.pop()

    def data(letters: str) -> None:
        way[-1].text += letters

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data
    parser.Parse(text, True)
    return top.inside[0]
