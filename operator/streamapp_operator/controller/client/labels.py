"""The labels by which what belongs to an app is found."""

APP_LABEL = "streamapp.dev/app"
"""On every object of an app: the app's name. Watches select by it, so an object without it is not seen."""
ROLE_LABEL = "streamapp.dev/role"
"""What an object is to its app."""
