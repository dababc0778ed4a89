"""The embedded system: a transactional log of streams in a folder, shared by the processes of one host."""
