"""The lines that an app's processes log: their format, their labels, and who writes them.

Format and labels of a line, the logging of Python, what a process prints, the configuration of Log4j. Of the
runtime it imports `redacted_output` alone.
"""
