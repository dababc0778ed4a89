"""Days and moments of whole columns: their parts, texts and numbers, and what lies some time later."""
