"""Kubernetes objects as JSON."""

from typing import Any

Manifest = dict[str, Any]
"""Treated as immutable: a function never changes a manifest that is passed in."""
