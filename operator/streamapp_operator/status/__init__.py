"""What the operator says of an app: conditions, phase and events, all from what was decided."""
