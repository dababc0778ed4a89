"""What is remembered of where tasks and processors were, in a ConfigMap."""
