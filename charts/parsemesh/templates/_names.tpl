{{/* Defines the names and labels that all manifests share. */}}

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

{{/* Labels that select the pods of this release; with (dict "root" $ "component" "pdf"), only the pods of this component. */}}
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

{{/* Labels of a pod. They do not contain the version of the chart, because a changed label replaces every pod. */}}
{{- define "parsemesh.podLabels" -}}
{{ include "parsemesh.selectorLabels" . }}
app.kubernetes.io/part-of: parsemesh
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of a manifest: (dict "root" $ "name" ... "component" ... "annotations" ... "labels" ...). */}}
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

{{/* The names of the Secrets of the bundled NATS server begin with this. */}}
{{- define "parsemesh.natsPrefix" -}}
{{- if .Values.nats.enabled -}}
{{- .Values.nats.existingSecret | default (printf "%s-nats" (include "parsemesh.fullname" .)) -}}
{{- else -}}
{{- printf "%s-nats" (include "parsemesh.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* The users of the bundled NATS server: every service, also one that is not enabled, and `operator`. */}}
{{- define "parsemesh.natsUsers" -}}
{{- toYaml (append (keys .Values.services | sortAlpha) "operator") -}}
{{- end -}}

{{/* (dict "root" $ "name" "pdf") -> the Secret with NATS_URL of a service; parsemesh.natsSecretKey is its entry. */}}
{{- define "parsemesh.natsSecret" -}}
{{- $external := .root.Values.nats.external -}}
{{- if .root.Values.nats.enabled -}}
{{- printf "%s-%s" (include "parsemesh.natsPrefix" .root) .name -}}
{{- else if $external.existingSecret -}}
{{- if $external.secretPerService }}{{ printf "%s-%s" $external.existingSecret .name }}{{ else }}{{ $external.existingSecret }}{{ end -}}
{{- else -}}
{{- include "parsemesh.natsPrefix" .root -}}
{{- end -}}
{{- end -}}

{{- define "parsemesh.natsSecretKey" -}}
{{- if and (not .Values.nats.enabled) .Values.nats.external.existingSecret -}}
{{- .Values.nats.external.existingSecretKey -}}
{{- else -}}
url
{{- end -}}
{{- end -}}

{{/* (dict "root" $ "name" "pdf") -> the Secret with the client certificate of a service; empty without TLS. */}}
{{- define "parsemesh.natsClientTls" -}}
{{- $tls := .root.Values.nats.tls -}}
{{- if $tls.enabled -}}
{{- if $tls.clientSecret -}}
{{- $tls.clientSecret -}}
{{- else if or $tls.existingSecret (not .root.Values.nats.enabled) -}}
{{- fail "nats.tls.clientSecret is needed with nats.tls.existingSecret, and with an external server" -}}
{{- else -}}
{{- printf "%s-%s-tls" (include "parsemesh.natsPrefix" .root) .name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "parsemesh.natsHost" -}}
{{- printf "%s-nats.%s.svc.%s" (include "parsemesh.fullname" .) .Release.Namespace .Values.clusterDomain -}}
{{- end -}}

{{/* The port of a URL; the default port of its scheme if the URL has no port. */}}
{{- define "parsemesh.urlPort" -}}
{{- $host := (urlParse .).host -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" -}}
{{- $port | default (ternary "443" "80" (hasPrefix "https" .)) -}}
{{- end -}}
