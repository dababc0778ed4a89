"""The labels by which an app's objects are selected."""

APP_LABEL = "streamapp.dev/app"
"""On every object of an app: the app's name. Watches select by it, so an object without it is not seen."""
ROLE_LABEL = "streamapp.dev/role"
"""The object's role within its app."""
OPERATOR_LABEL = ("app.kubernetes.io/name", "streamapp-operator")
"""Of the operator's own pods, by the chart."""
