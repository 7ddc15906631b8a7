{{- define "gpudash.name" -}}
{{- if contains "gpudash" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-gpudash" (.Release.Name | trunc 32 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "gpudash.labels" -}}
app.kubernetes.io/name: gpudash
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* (dict "top" $ "of" "web") */}}
{{- define "gpudash.selector" -}}
app.kubernetes.io/name: gpudash
app.kubernetes.io/instance: {{ .top.Release.Name }}
app.kubernetes.io/component: {{ .of }}
{{- end }}

{{- define "gpudash.metadata" -}}
name: {{ include "gpudash.name" .top }}-{{ .of }}
namespace: {{ .top.Release.Namespace }}
labels:
  {{- include "gpudash.labels" .top | nindent 2 }}
  app.kubernetes.io/component: {{ .of }}
{{- end }}

{{- define "gpudash.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The account whose token a process has. The others have an account without permissions, and no token. */}}
{{- define "gpudash.account" -}}
{{- if eq .of "watch" -}}
watcher
{{- else if and (eq .of "launch") .top.Values.launcher.enabled -}}
launcher
{{- else if and (eq .of "usage") .top.Values.usage.exporterNamespaces -}}
watcher
{{- else -}}
{{ .of }}
{{- end }}
{{- end }}

{{- define "gpudash.readsClusters" -}}
{{- if or (eq .of "watch") (and (eq .of "usage") .top.Values.usage.exporterNamespaces) }}true{{ end }}
{{- end }}

{{- define "gpudash.settings" -}}
{{- $ca := "/etc/gpudash/ca" }}
GPUDASH_ENV: production
GPUDASH_ALLOWED_HOSTS: {{ join "," .Values.hosts | quote }}
GPUDASH_BASE_PATH: {{ .Values.basePath | quote }}
GPUDASH_BEHIND_PROXY: {{ .Values.proxy.behind | quote }}
GPUDASH_TRUSTED_PROXY: {{ .Values.proxy.trusted | quote }}
GPUDASH_DATA_DIR: /var/lib/gpudash/data
GPUDASH_CREDENTIAL_FOLDERS: /etc/gpudash
GPUDASH_VALIDATION_NAMESPACE: {{ .Values.launcher.namespace }}
{{- with .Values.database }}
{{- $root := ternary "/etc/ssl/certs/ca-certificates.crt" (printf "%s/database/%s" $ca .ca.key) (empty .ca.configMap) }}
{{- $trusted := ternary (printf "&sslrootcert=%s" $root) "" (has .sslmode (list "verify-full" "verify-ca")) }}
GPUDASH_DATABASE_URL: {{ printf "postgresql://%s@%s:%v/%s?sslmode=%s%s" (urlquery .user) .host .port .name .sslmode $trusted | quote }}
{{- end }}
{{- with .Values.broker }}
GPUDASH_BROKER_URL: {{ printf "%s://%s%s:%v/%v" (ternary "rediss" "redis" .tls) (ternary "" (printf "%s@" (urlquery .user)) (empty .user)) .host .port .database | quote }}
{{- if and .tls .ca.configMap }}
GPUDASH_BROKER_CA: {{ $ca }}/broker/{{ .ca.key }}
{{- end }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "gpudash.environment" -}}
{{- $secret := .Values.secret -}}
{{- range $name, $key := dict "GPUDASH_SECRET_KEY" $secret.secretKey "GPUDASH_DATABASE_PASSWORD" $secret.databasePassword "GPUDASH_BROKER_PASSWORD" $secret.brokerPassword }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret.name }}
      key: {{ $key }}
      {{- if ne $name "GPUDASH_SECRET_KEY" }}
      optional: true
      {{- end }}
{{- end }}
{{- end }}

{{- define "gpudash.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "gpudash.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Folders that a process writes to, deleted with it; CAs and, for processes that read clusters, their kubeconfigs. */}}
{{- define "gpudash.mounts" -}}
- { name: data, mountPath: /var/lib/gpudash }
- { name: tmp, mountPath: /tmp }
{{- if .top.Values.database.ca.configMap }}
- { name: database-ca, mountPath: /etc/gpudash/ca/database, readOnly: true }
{{- end }}
{{- if .top.Values.broker.ca.configMap }}
- { name: broker-ca, mountPath: /etc/gpudash/ca/broker, readOnly: true }
{{- end }}
{{- if include "gpudash.readsClusters" . }}
- { name: watcher, mountPath: /etc/gpudash/watcher, readOnly: true }
{{- if .top.Values.otherClusters.watcherSecret }}
- { name: other-watcher, mountPath: /etc/gpudash/other/watcher, readOnly: true }
{{- end }}
{{- end }}
{{- if eq .of "launch" }}
{{- if .top.Values.launcher.enabled }}
- { name: launcher, mountPath: /etc/gpudash/launcher, readOnly: true }
{{- end }}
{{- if .top.Values.otherClusters.launcherSecret }}
- { name: other-launcher, mountPath: /etc/gpudash/other/launcher, readOnly: true }
{{- end }}
{{- if .top.Values.quarantine.enabled }}
- { name: quarantine, mountPath: /etc/gpudash/quarantine, readOnly: true }
{{- end }}
{{- if .top.Values.otherClusters.quarantineSecret }}
- { name: other-quarantine, mountPath: /etc/gpudash/other/quarantine, readOnly: true }
{{- end }}
{{- end }}
{{- if and (eq .of "usage") .top.Values.usage.prometheusTokenSecret }}
- { name: prometheus, mountPath: /etc/gpudash/prometheus, readOnly: true }
{{- end }}
{{- end }}

{{- define "gpudash.volumes" -}}
- name: data
  emptyDir: { sizeLimit: 64Mi }
- name: tmp
  emptyDir: { sizeLimit: 512Mi }
{{- range $name := list "database" "broker" }}
{{- $ca := (index $.top.Values $name).ca }}
{{- if $ca.configMap }}
- name: {{ $name }}-ca
  configMap: { name: {{ $ca.configMap }} }
{{- end }}
{{- end }}
{{- if include "gpudash.readsClusters" . }}
{{- include "gpudash.credentials" (dict "top" .top "role" "watcher") }}
{{- if .top.Values.otherClusters.watcherSecret }}
- name: other-watcher
  secret: { secretName: {{ .top.Values.otherClusters.watcherSecret }}, defaultMode: 0440 }
{{- end }}
{{- end }}
{{- if eq .of "launch" }}
{{- if .top.Values.launcher.enabled }}
{{- include "gpudash.credentials" (dict "top" .top "role" "launcher") }}
{{- end }}
{{- if .top.Values.otherClusters.launcherSecret }}
- name: other-launcher
  secret: { secretName: {{ .top.Values.otherClusters.launcherSecret }}, defaultMode: 0440 }
{{- end }}
{{- if .top.Values.quarantine.enabled }}
# The token of another account than the pod's: of a Secret, since a pod gets fresh tokens of its own account only.
- name: quarantine
  projected:
    defaultMode: 0440
    sources:
      - configMap: { name: {{ include "gpudash.name" .top }}-clusters, items: [{ key: kubeconfig, path: kubeconfig }] }
      - secret: { name: {{ include "gpudash.name" .top }}-quarantine, items: [{ key: token, path: token }, { key: ca.crt, path: ca.crt }] }
{{- end }}
{{- if .top.Values.otherClusters.quarantineSecret }}
- name: other-quarantine
  secret: { secretName: {{ .top.Values.otherClusters.quarantineSecret }}, defaultMode: 0440 }
{{- end }}
{{- end }}
{{- if and (eq .of "usage") .top.Values.usage.prometheusTokenSecret }}
- name: prometheus
  secret: { secretName: {{ .top.Values.usage.prometheusTokenSecret }}, defaultMode: 0440 }
{{- end }}
{{- end }}

{{/* A kubeconfig, the cluster's CA, and a token of the pod's own account, which the kubelet renews. No process has the token of another. */}}
{{- define "gpudash.credentials" }}
- name: {{ .role }}
  projected:
    defaultMode: 0440
    sources:
      - configMap: { name: {{ include "gpudash.name" .top }}-clusters, items: [{ key: kubeconfig, path: kubeconfig }] }
      - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
      - serviceAccountToken: { path: token, expirationSeconds: 3600 }
{{- end }}

{{- define "gpudash.subject" -}}
- kind: ServiceAccount
  name: {{ include "gpudash.name" .top }}-{{ .of }}
  namespace: {{ .top.Release.Namespace }}
{{- end }}

{{/* The rules of a role in deploy/, by its name there. */}}
{{- define "gpudash.rules" -}}
{{- toYaml (index (.top.Files.Get "files/roles.yaml" | fromYaml) .of) }}
{{- end }}
