"""The loop that gives every lane its work, batch after batch, and recovers when one fails."""
