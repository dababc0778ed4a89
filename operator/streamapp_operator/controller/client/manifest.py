"""Objects of Kubernetes as they are in JSON."""

from typing import Any

Manifest = dict[str, Any]
"""Whoever is given one does not change it."""
