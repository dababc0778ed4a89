"""When an app has a driver and which: what became of the last one, and what to do about the next."""
