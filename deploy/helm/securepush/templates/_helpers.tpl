{{- define "securepush.name" -}}
{{- if contains "securepush" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-securepush{{ end -}}
{{- end }}

{{- define "securepush.labels" -}}
app.kubernetes.io/name: securepush
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "securepush.chartLabels" -}}
{{ include "securepush.labels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "securepush.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- /* Settings of a service that the chart decides; values have precedence. Takes root and service. */ -}}
{{- define "securepush.config" -}}
{{- $insecure := list }}
{{- if ne .service "dispatcher" }}{{ $insecure = append $insecure "http" }}{{ end }}
{{- if and .root.Values.tracing.enabled (hasPrefix "http:" .root.Values.tracing.endpoint) }}
{{- $insecure = append $insecure "otlp" }}
{{- end }}
HTTP_HOST: 0.0.0.0
LOG_FORMAT: json
DATABASE_URL_FILE: /var/lib/securepush/database-url
DATABASE_MIGRATE: check
{{- if not (has .service (list "retrieval" "hub")) }}
AMQP_URL_FILE: /var/lib/securepush/amqp-url
AMQP_DECLARE: check
{{- end }}
{{- if has .service (list "dispatcher" "retrieval") }}
HUB_CONNECTION_STRING_FILE: /var/lib/securepush/hub-connection-string
{{- if .root.Values.hub.enabled }}
{{- /* Of the chart's own hub; Azure's is reached by TLS. */}}
HUB_INSECURE_HOST: {{ include "securepush.name" .root }}-hub
{{- end }}
{{- end }}
{{- if eq .service "hub" }}
HTTP_MAX_CONNECTIONS_PER_ADDRESS: "0"
HUB_ACCESS_FILE: /var/lib/securepush/hub-access
PUSH_CREDENTIALS_FILE: /var/lib/securepush/push-credentials.json
{{- end }}
{{- if has .service (list "ingest" "retrieval") }}
{{- /* Clients arrive through the ingress controller, from few addresses. */}}
HTTP_MAX_CONNECTIONS_PER_ADDRESS: "0"
PAYLOAD_KEYS_FILE: /var/lib/securepush/payload.keys
AUTH_USERS_FILE: /var/lib/securepush/users
AUTH_JWKS_FILE: /var/lib/securepush/jwks.json
{{- end }}
{{- if eq .service "ingest" }}
INGEST_API_KEYS_FILE: /var/lib/securepush/api-keys
{{- end }}
{{- if eq .service "retrieval" }}
AUTH_TOKEN_SIGNING_KEY_FILE: /var/lib/securepush/token-signing-key.pem
{{- if .root.Values.hub.enabled }}
WEB_PUSH_PUBLIC_KEY_FILE: /var/lib/securepush/web-push-public-key
{{- end }}
{{- end }}
{{- with $insecure }}
ALLOW_INSECURE: {{ join "," . }}
{{- end }}
{{- if .root.Values.tracing.enabled }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .root.Values.tracing.endpoint }}
{{- end }}
{{- if eq .service "operator" }}
ADMIN_PASSWORD_FILE: /var/lib/securepush/admin-password
INGEST_URL: http://{{ include "securepush.name" .root }}-ingest-pods:8080
DISPATCHER_URL: http://{{ include "securepush.name" .root }}-dispatcher:8082
RETRIEVAL_URL: http://{{ include "securepush.name" .root }}-retrieval-pods:8081
{{- if .root.Values.hub.enabled }}
HUB_URL: http://{{ include "securepush.name" .root }}-hub-pods:8085
{{- end }}
{{- end }}
{{- end }}

{{- define "securepush.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "securepush.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
    - ALL
{{- end }}

{{- /* Takes root, secret and broker: whether the pod uses the broker. */ -}}
{{- define "securepush.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
- name: trust
  projected:
    defaultMode: 0444
    sources:
      - configMap:
          name: {{ include "securepush.name" .root }}-trust
          optional: true
      {{- if .root.Values.cloudNativePG.enabled }}
      - secret:
          name: {{ include "securepush.name" .root }}-db-ca
          items:
            - key: ca.crt
              path: database-ca.crt
      {{- end }}
      {{- if and .root.Values.rabbitmq.enabled .broker }}
      - secret:
          name: {{ include "securepush.name" .root }}-rabbitmq-tls
          items:
            - key: ca.crt
              path: broker-ca.crt
      {{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end }}
