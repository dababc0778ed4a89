"""The small texts that fields hold: names, durations, expressions, column lists. They know no resource."""
