"""From an app and its plan to what lanes do: typed edges, SQL steps, operations of Python workers."""
