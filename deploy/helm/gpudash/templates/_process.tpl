{{/* A Deployment: (dict "top" $ "of" "watch" "words" (list …)). Further keys: probes, ports (text). */}}
{{- define "gpudash.process" -}}
{{- $of := index .top.Values .of -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "gpudash.metadata" . | nindent 2 }}
spec:
  {{- if not (and $of.autoscaling $of.autoscaling.enabled) }}
  replicas: {{ $of.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      {{- include "gpudash.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "gpudash.selector" . | nindent 8 }}
      annotations:
        checksum/settings: {{ include "gpudash.settings" .top | sha256sum }}
        {{- with .top.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "gpudash.podBasics" . | nindent 6 }}
      terminationGracePeriodSeconds: 60
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "gpudash.selector" . | nindent 14 }}
      containers:
        - name: {{ .of }}
          {{- include "gpudash.container" (merge (dict "settings" "settings" "resources" $of.resources) .) | nindent 10 }}
          {{- if .ports }}
          {{- .ports | nindent 10 }}
          {{- end }}
          {{- if .probes }}
          {{- .probes | nindent 10 }}
          {{- else }}
          # Checks only the loop: an outage of database or broker must not restart every worker. If packets to the broker are
          # dropped, its client blocks the loop for minutes. The alerts report a hanging worker long before.
          startupProbe:
            {{- include "gpudash.alive" . | nindent 12 }}
            periodSeconds: 5
            failureThreshold: 36
          livenessProbe:
            {{- include "gpudash.alive" . | nindent 12 }}
            periodSeconds: 60
            timeoutSeconds: 10
            failureThreshold: 3
          {{- end }}
      volumes:
        {{- include "gpudash.volumes" . | nindent 8 }}
{{- end }}

{{- define "gpudash.alive" -}}
exec:
  command: [sh, -c, 'test -n "$(find /var/lib/gpudash/alive -mmin -10)"']
{{- end }}

{{- define "gpudash.podBasics" -}}
serviceAccountName: {{ include "gpudash.name" .top }}-{{ include "gpudash.account" . }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "gpudash.podSecurity" .top | nindent 2 }}
{{- with .top.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
nodeSelector:
  kubernetes.io/os: linux
  {{- with .top.Values.nodeSelector }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .top.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .top.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .top.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* settings: the end of the ConfigMap's name. words: the command. */}}
{{- define "gpudash.container" -}}
image: {{ include "gpudash.image" .top | quote }}
imagePullPolicy: {{ .top.Values.image.pullPolicy }}
command:
  {{- range .words }}
  - {{ . | quote }}
  {{- end }}
envFrom:
  - configMapRef:
      name: {{ include "gpudash.name" .top }}-{{ .settings }}
env:
  {{- include "gpudash.environment" .top | nindent 2 }}
  {{- if has .of (list "watch" "launch" "tasks" "usage" "schedule") }}
  - name: GPUDASH_ALIVE_FILE
    value: /var/lib/gpudash/alive
  {{- end }}
  {{- if eq .of "web" }}
  {{- include "gpudash.signIn" .top | nindent 2 }}
  {{- end }}
  {{- if include "gpudash.readsClusters" . }}
  - name: GPUDASH_KUBECONFIG
    value: /etc/gpudash/watcher/kubeconfig
  {{- end }}
securityContext:
  {{- include "gpudash.containerSecurity" .top | nindent 2 }}
resources:
  {{- toYaml .resources | nindent 2 }}
volumeMounts:
  {{- include "gpudash.mounts" . | nindent 2 }}
{{- end }}
