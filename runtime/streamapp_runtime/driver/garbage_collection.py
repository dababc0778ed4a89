"""Rare garbage collections in the process of a driver: Python seldom looks for unreachable objects.

A driver has some 170,000 objects once it has started, and each batch makes new orders and reports, which are
freed without a collection. By default Python nevertheless looks at all of them several times a batch where an
app has many tasks: two fifths of what 1,000 lanes of 10 tasks cost.
"""

import gc
from typing import Final

_NEW_OBJECTS: Final = 10_000
"""How many objects are made, beyond those that are freed, before the new ones are looked at."""
_YOUNGER_COLLECTIONS: Final = 10
"""How many collections of a generation there are before the next older one is looked at; Python's default."""


def collect_seldom() -> None:
    """Leave out of collections what there is now, and look seldom at what is made later."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _YOUNGER_COLLECTIONS, _YOUNGER_COLLECTIONS)
