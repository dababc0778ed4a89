"""The types of short texts in fields: names, durations, expressions, column lists. It imports no resource."""
