"""YAML and JSON texts as documents of plain values within limits. It knows no resource."""
