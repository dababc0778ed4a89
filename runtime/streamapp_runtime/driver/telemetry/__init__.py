"""Traces and lineage of a run: OpenTelemetry spans of its batches, OpenLineage events of its life.

Reads what listeners of a run are told; changes nothing. May import what `page` may, and nothing of `page`.
Its libraries are an extra. Only `batch_tracer` and `run_lineage` import them, where a receiver is configured.
"""
