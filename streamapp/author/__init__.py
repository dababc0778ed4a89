"""The author of models: from an app and what is known of its world to a plan, its tasks and their places."""
