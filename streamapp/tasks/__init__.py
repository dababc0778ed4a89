"""Who owns which partition: groupers, their fixed-tasks forms, expansion, and the remembered layout."""
