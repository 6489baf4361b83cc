{{- define "jeton.name" -}}
{{- if contains "jeton" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-jeton{{ end -}}
{{- end }}

{{- /* Identify the pods of one role; never changed, because selectors cannot be. */ -}}
{{- define "jeton.selector" -}}
app.kubernetes.io/name: jeton
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "jeton.labels" -}}
app.kubernetes.io/name: jeton
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "jeton.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end }}

{{- define "jeton.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "jeton.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* Settings of both roles. The Secret comes last, as in deploy/kubernetes. */ -}}
{{- define "jeton.settings" -}}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "jeton.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - { name: {{ . }} }
  {{- end }}
{{- end }}
{{- end }}

{{- define "jeton.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Without the Prometheus Operator, annotations name the port to scrape. */ -}}
{{- define "jeton.annotations" -}}
{{- $own := dict "prometheus.io/scrape" "true" "prometheus.io/port" "8081" "prometheus.io/path" "/metrics" -}}
{{- if .root.Values.serviceMonitor.enabled }}{{ $own = dict }}{{ end -}}
{{- toYaml (merge (deepCopy .role.podAnnotations) $own) }}
{{- end }}

{{- define "jeton.autoscaler" -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  labels: {{- include "jeton.labels" .root | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .name }} }
  minReplicas: {{ .role.autoscaling.minReplicas }}
  maxReplicas: {{ .role.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .role.autoscaling.targetCPUUtilizationPercentage }} }
{{- end }}

{{- define "jeton.disruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels: {{- include "jeton.labels" .root | nindent 4 }}
spec:
  minAvailable: {{ .role.podDisruptionBudget.minAvailable }}
  selector:
    matchLabels: {{- include "jeton.selector" . | nindent 6 }}
{{- end }}
