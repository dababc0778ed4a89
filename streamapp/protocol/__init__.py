"""What operator and driver tell each other: the accepted app, the wanted model, the report, the ending."""
