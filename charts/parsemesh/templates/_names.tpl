{{/* Names and labels, so that every manifest calls the same thing by the same name. */}}

{{- define "parsemesh.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "parsemesh.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "parsemesh.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods of this release; with (dict "root" $ "component" "pdf") those of one part. */}}
{{- define "parsemesh.selectorLabels" -}}
{{- $root := .root | default . -}}
app.kubernetes.io/name: {{ include "parsemesh.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "parsemesh.labels" -}}
{{- $root := .root | default . -}}
{{ include "parsemesh.selectorLabels" . }}
app.kubernetes.io/version: {{ $root.Values.image.tag | default $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: parsemesh
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Those of a pod: nothing that a release of the chart alone would change, since that would replace every pod. */}}
{{- define "parsemesh.podLabels" -}}
{{ include "parsemesh.selectorLabels" . }}
app.kubernetes.io/part-of: parsemesh
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* metadata of a manifest: (dict "root" $ "name" ... "component" ... "annotations" ... "labels" ...). */}}
{{- define "parsemesh.metadata" -}}
name: {{ .name }}
namespace: {{ .namespace | default .root.Release.Namespace }}
labels:
  {{- include "parsemesh.labels" (dict "root" .root "component" .component) | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with mergeOverwrite (dict) .root.Values.commonAnnotations (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "parsemesh.gatewayAccount" -}}
{{- if .Values.serviceAccount.gatewayName -}}
{{- .Values.serviceAccount.gatewayName -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "parsemesh.fullname" . }}-gateway
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- define "parsemesh.workerAccount" -}}
{{- if .Values.serviceAccount.workerName -}}
{{- .Values.serviceAccount.workerName -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "parsemesh.fullname" . }}-worker
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- define "parsemesh.keysNamespace" -}}
{{- .Values.keys.namespace | default .Release.Namespace -}}
{{- end -}}

{{/* The Secret with NATS_URL, and its entry. */}}
{{- define "parsemesh.natsSecret" -}}
{{- if .Values.nats.enabled -}}
{{- .Values.nats.existingSecret | default (printf "%s-nats" (include "parsemesh.fullname" .)) -}}
{{- else -}}
{{- .Values.nats.external.existingSecret | default (printf "%s-nats" (include "parsemesh.fullname" .)) -}}
{{- end -}}
{{- end -}}

{{- define "parsemesh.natsSecretKey" -}}
{{- if and (not .Values.nats.enabled) .Values.nats.external.existingSecret -}}
{{- .Values.nats.external.existingSecretKey -}}
{{- else -}}
url
{{- end -}}
{{- end -}}

{{- define "parsemesh.natsHost" -}}
{{- printf "%s-nats.%s.svc.%s" (include "parsemesh.fullname" .) .Release.Namespace .Values.clusterDomain -}}
{{- end -}}

{{/* The port of an address, by its scheme where it names none. */}}
{{- define "parsemesh.urlPort" -}}
{{- $host := (urlParse .).host -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" -}}
{{- $port | default (ternary "443" "80" (hasPrefix "https" .)) -}}
{{- end -}}
