{{/* How objects are called, and the labels that all of them have. */}}

{{- define "streamapp.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "streamapp.operator" -}}
{{- printf "%s-operator" (include "streamapp.name" .) -}}
{{- end -}}

{{/* Objects without a namespace are told apart by the release's. */}}
{{- define "streamapp.operatorRole" -}}
{{- printf "%s:%s" (include "streamapp.operator" .) .Release.Namespace -}}
{{- end -}}

{{- define "streamapp.account" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "streamapp.operator" . -}}
{{- else -}}
{{- fail "serviceAccount.name: missing; with serviceAccount.create=false an account has to be named" -}}
{{- end -}}
{{- end -}}

{{- define "streamapp.image" -}}
{{- include "streamapp.imageName" (dict "image" .Values.image "version" .Chart.AppVersion) -}}
{{- end -}}

{{- define "streamapp.runtimeImage" -}}
{{- include "streamapp.imageName" (dict "image" .Values.runtimeImage "version" .Chart.AppVersion) -}}
{{- end -}}

{{- define "streamapp.imageName" -}}
{{- printf "%s:%s" .image.repository (.image.tag | default .version) -}}
{{- with .image.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{- define "streamapp.operatorSelector" -}}
app.kubernetes.io/name: streamapp-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "streamapp.labels" -}}
app.kubernetes.io/part-of: streamapp
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "streamapp.operatorLabels" -}}
{{ include "streamapp.operatorSelector" . }}
{{ include "streamapp.labels" . }}
{{- end -}}

{{/* The labels of anything else that the chart makes: called with the context and what it is. */}}
{{- define "streamapp.labelsOf" -}}
app.kubernetes.io/name: {{ .what }}
app.kubernetes.io/instance: {{ .of.Release.Name }}
{{ include "streamapp.labels" .of }}
{{- end -}}

{{- define "streamapp.restrictedPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "streamapp.restrictedContainer" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}
