"""How random tests run: never by the clock, and in the checks before a landing always the same cases."""

import os

from hypothesis import settings

settings.register_profile("here", deadline=None)
settings.register_profile("landing", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("landing" if os.environ.get("CI") == "true" else "here")
