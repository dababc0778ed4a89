"""The chart's template of the CustomResourceDefinition: the one that `streamapp crd` prints, kept or not."""

from streamapp.spec.schema import crd_manifest

_NAME = "metadata:\n  name: streamapps.streamapp.dev\n"
_MARKS = """\
  labels: {{- include "streamapp.labels" . | nindent 4 }}
  {{- if .Values.crds.keep }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
"""


def template() -> str:
    """The template."""
    text = crd_manifest.crd_yaml()
    if "{{" in text or text.count(_NAME) != 1:
        raise ValueError("the CustomResourceDefinition cannot be a template as it is")
    return f"{{{{- if .Values.crds.install }}}}\n{text.replace(_NAME, _NAME + _MARKS)}{{{{- end }}}}\n"
