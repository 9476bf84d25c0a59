{{/* Defines the settings of one service, and its pod template. */}}

{{/* (dict "root" $ "name" "pdf") -> the settings of the service, merged over the defaults, as YAML. */}}
{{- define "parsemesh.service" -}}
{{- $own := get .root.Values.services .name | default dict -}}
{{- $merged := mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) -}}
{{- $kind := $merged.autoscaling.kind -}}
{{- /* The gateway has no queue, so KEDA cannot scale it by queue length. */ -}}
{{- if and (eq $kind "keda") (eq .name "gateway") -}}{{- $kind = "hpa" -}}{{- end -}}
{{- $_ := set $merged.autoscaling "kind" $kind -}}
{{- if and (eq $kind "hpa") (lt (int $merged.autoscaling.minReplicas) 1) -}}
{{- $_ := set $merged.autoscaling "minReplicas" 1 -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end -}}

{{- define "parsemesh.image" -}}
{{- if .service.image -}}
{{- .service.image -}}
{{- else -}}
{{- $image := .root.Values.image -}}
{{- $name := printf "%s-%s:%s" $image.repository .name ($image.tag | default .root.Chart.AppVersion) -}}
{{- if $image.registry }}{{ printf "%s/%s" $image.registry $name }}{{ else }}{{ $name }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "parsemesh.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The environment variables of one service. Values in `env` override the values of the chart. */}}
{{- define "parsemesh.env" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $name := .name -}}
{{- $env := dict
  "HOST" "0.0.0.0" "PORT" "8080" "OPS_HOST" "0.0.0.0" "OPS_PORT" "9090"
  "LOG_LEVEL" $root.Values.logLevel
  "DRAIN_TIMEOUT_MS" (mul (int $service.drainSeconds) 1000 | toString)
  "HOME" "/tmp" "TMPDIR" "/tmp" -}}
{{- if include "parsemesh.natsClientTls" (dict "root" $root "name" $name) -}}
{{- range $variable, $file := dict "NATS_TLS_CA" "ca.crt" "NATS_TLS_CERT" "tls.crt" "NATS_TLS_KEY" "tls.key" -}}
{{- $_ := set $env $variable (printf "/etc/nats-tls/%s" $file) -}}
{{- end -}}
{{- end -}}
{{- $replicas := ternary $root.Values.nats.replicas $root.Values.nats.external.replicas $root.Values.nats.enabled -}}
{{- $_ := set $env "NATS_REPLICAS" ($replicas | toString) -}}
{{- if $service.concurrency -}}
{{- $_ := set $env (printf "%s_CONCURRENCY" (upper $name)) ($service.concurrency | toString) -}}
{{- /* The office service serves a second queue. */ -}}
{{- if eq $name "office" -}}{{- $_ := set $env "LIBREOFFICE_CONCURRENCY" ($service.concurrency | toString) -}}{{- end -}}
{{- end -}}
{{- if eq $name "gateway" -}}
{{- $_ := set $env "DRAIN_LINGER_MS" (mul (int $service.preStopSeconds) 1000 | toString) -}}
{{- $_ := set $env "KEYS_SOURCE" "kubernetes" -}}
{{- $_ := set $env "KEYS_NAMESPACE" (include "parsemesh.keysNamespace" $root) -}}
{{- $_ := set $env "KEYS_SELECTOR" $root.Values.keys.selector -}}
{{- end -}}
{{- if and $root.Values.llm.baseUrl (has $name (list "gateway" "enrich")) -}}
{{- $_ := set $env "LLM_BASE_URL" $root.Values.llm.baseUrl -}}
{{- $_ := set $env "LLM_MODEL" (required "llm.model is needed with llm.baseUrl" $root.Values.llm.model) -}}
{{- end -}}
{{- if and $root.Values.pii.modelUrl (eq $name "pii") -}}
{{- $_ := set $env "PII_MODEL_URL" $root.Values.pii.modelUrl -}}
{{- end -}}
{{- if has $name (list "ocr" "pdf") -}}
{{- $_ := set $env "OCR_LANGUAGES" $root.Values.ocr.languages -}}
{{- end -}}
{{- if $root.Values.tracing.endpoint -}}
{{- $_ := set $env "OTEL_EXPORTER_OTLP_ENDPOINT" $root.Values.tracing.endpoint -}}
{{- $_ := set $env "OTEL_TRACES_SAMPLER" "parentbased_traceidratio" -}}
{{- $_ := set $env "OTEL_TRACES_SAMPLER_ARG" ($root.Values.tracing.sampleRatio | toString) -}}
{{- $_ := set $env "OTEL_RESOURCE_ATTRIBUTES" "service.namespace=$(POD_NAMESPACE),service.instance.id=$(POD_NAME)" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
{{ end -}}
- name: NATS_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "parsemesh.natsSecret" (dict "root" $root "name" $name) }}
      key: {{ include "parsemesh.natsSecretKey" $root }}
{{- if and $root.Values.llm.baseUrl $root.Values.llm.existingSecret (eq $name "enrich") }}
- name: LLM_API_KEY
  valueFrom:
    secretKeyRef:
      name: {{ $root.Values.llm.existingSecret }}
      key: {{ $root.Values.llm.existingSecretKey }}
{{- end }}
{{- range $key, $value := mergeOverwrite $env $service.env }}
- name: {{ $key }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- with $service.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Spreads pods over nodes and zones if possible, separately for each revision of the Deployment. */}}
{{- define "parsemesh.spread" -}}
{{- $labels := include "parsemesh.selectorLabels" . -}}
{{- range $index, $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
{{- if $index }}{{ "\n" }}{{ end -}}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- $labels | nindent 6 }}
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end -}}

{{- define "parsemesh.pod" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $name := .name -}}
{{- $gateway := eq $name "gateway" -}}
{{- $clientTls := include "parsemesh.natsClientTls" (dict "root" $root "name" $name) -}}
metadata:
  labels:
    {{- include "parsemesh.podLabels" (dict "root" $root "component" $name) | nindent 4 }}
    {{- with $service.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $service.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "parsemesh.pullSecrets" $root | indent 2 }}
  serviceAccountName: {{ ternary (include "parsemesh.gatewayAccount" $root) (include "parsemesh.workerAccount" $root) $gateway }}
  # Only the gateway uses the API server.
  automountServiceAccountToken: {{ $gateway }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add $service.preStopSeconds $service.drainSeconds 10 }}
  {{- with $service.podSecurityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $service.runtimeClassName }}
  runtimeClassName: {{ . }}
  {{- end }}
  {{- with $service.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if kindIs "invalid" $service.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- include "parsemesh.spread" (dict "root" $root "component" $name) | nindent 4 }}
  {{- else if $service.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml $service.topologySpreadConstraints | nindent 4 }}
  {{- end }}
  {{- with $service.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $name }}
      image: {{ include "parsemesh.image" . }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- with $service.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      env:
        {{- include "parsemesh.env" . | nindent 8 }}
      {{- with $service.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- if $gateway }}
        - name: http
          containerPort: 8080
        {{- end }}
        - name: ops
          containerPort: 9090
      {{- range $probe, $path := dict "startupProbe" "/livez" "readinessProbe" "/readyz" "livenessProbe" "/livez" }}
      {{- with get $service $probe }}
      {{ $probe }}:
        httpGet:
          path: {{ $path }}
          port: ops
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- if $service.preStopSeconds }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ $service.preStopSeconds }}
      {{- end }}
      {{- with $service.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
        {{- if eq $name "office" }}
        - name: memory
          mountPath: /dev/shm
        {{- end }}
        {{- if $clientTls }}
        - name: nats-tls
          mountPath: /etc/nats-tls
          readOnly: true
        {{- end }}
        {{- with $service.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with $service.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: tmp
      emptyDir:
        {{- with $service.tmp.medium }}
        medium: {{ . }}
        {{- end }}
        sizeLimit: {{ $service.tmp.sizeLimit }}
    {{- if eq $name "office" }}
    # LibreOffice reads documents of zero-data-retention requests here, in memory. The default size of the container runtime, 64 MiB, is too small.
    - name: memory
      emptyDir:
        medium: Memory
        sizeLimit: 1Gi
    {{- end }}
    {{- if $clientTls }}
    - name: nats-tls
      secret:
        secretName: {{ $clientTls }}
        defaultMode: 0440
    {{- end }}
    {{- with $service.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
