"""Parts of Scala that py4j does not reach by itself: singletons, sequences, and fields without a getter."""

from collections.abc import Iterable
from typing import Any


def companion(jvm: Any, name: str) -> Any:
    """A Scala object, which Python cannot name."""
    return jvm.java.lang.Class.forName(f"{name}$").getField("MODULE$").get(None)


def sequence(jvm: Any, items: Iterable[object]) -> Any:
    """An immutable sequence of Scala."""
    listed = jvm.java.util.ArrayList()
    for item in items:
        listed.add(item)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(listed).toSeq()


def field_of(instance: Any, name: str) -> Any:
    """A field of a Scala object that has no getter, or whose class has methods that cannot be listed."""
    kind = instance.getClass()
    while kind is not None:
        for field in kind.getDeclaredFields():
            if field.getName().endswith(name):
                field.setAccessible(True)
                return field.get(instance)
        kind = kind.getSuperclass()
    raise LookupError(f"Spark's {instance.getClass().getName()} has no {name}")
