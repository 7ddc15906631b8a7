{{/* Single sign-on, for the web process only: the others do not need the client's secret. */}}
{{- define "gpudash.signIn" -}}
{{- $in := .Values.signIn -}}
{{- $headers := $in.proxyHeaders -}}
{{- include "gpudash.signInChecked" . -}}
{{- if not $in.localAccounts }}
- name: GPUDASH_LOCAL_ACCOUNTS
  value: "false"
{{- end }}
{{- with $in.openid }}
{{- if .issuer }}
- name: GPUDASH_OIDC_ISSUER
  value: {{ .issuer | quote }}
- name: GPUDASH_OIDC_CLIENT_ID
  value: {{ .clientId | quote }}
- name: GPUDASH_OIDC_CLIENT_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ .clientSecret.name | default $.Values.secret.name }}
      key: {{ .clientSecret.key }}
- name: GPUDASH_OIDC_NAME
  value: {{ .name | quote }}
- name: GPUDASH_OIDC_SCOPES
  value: {{ join " " .scopes | quote }}
- name: GPUDASH_OIDC_GROUPS_CLAIM
  value: {{ .groupsClaim | quote }}
{{- end }}
{{- end }}
{{- if $headers.user }}
- name: GPUDASH_PROXY_USER_HEADER
  value: {{ $headers.user | quote }}
- name: GPUDASH_PROXY_GROUPS_HEADER
  value: {{ $headers.groups | quote }}
{{- end }}
{{- if $in.groups }}
- name: GPUDASH_GROUP_ROLES
  value: {{ include "gpudash.groupRoles" . | quote }}
{{- end }}
{{- end }}

{{/* In the form of GPUDASH_GROUP_ROLES: group=role:place,place; … */}}
{{- define "gpudash.groupRoles" -}}
{{- $found := list -}}
{{- range .Values.signIn.groups -}}
{{- $places := empty .places | ternary "" (printf ":%s" (join "," .places)) -}}
{{- $found = append $found (printf "%s=%s%s" .group .role $places) -}}
{{- end -}}
{{- join "; " $found -}}
{{- end }}

{{/* Rules that the schema cannot express: one value requires another. gpudash itself would refuse to start with the same error. */}}
{{- define "gpudash.signInChecked" -}}
{{- $in := .Values.signIn -}}
{{- $others := or $in.openid.issuer $in.proxyHeaders.user -}}
{{- if and $in.openid.issuer (not $in.openid.clientId) }}{{ fail "signIn.openid.clientId is required with signIn.openid.issuer" }}{{ end -}}
{{- if ne (empty $in.proxyHeaders.user) (empty $in.proxyHeaders.groups) }}{{ fail "signIn.proxyHeaders requires both user and groups" }}{{ end -}}
{{- if and $in.proxyHeaders.user (has .Values.proxy.trusted (list "" "*")) }}{{ fail "signIn.proxyHeaders requires the address of the proxy in proxy.trusted (not *): otherwise any client could send the headers" }}{{ end -}}
{{- if and $others (not $in.groups) }}{{ fail "signIn.groups is required: without it no user gets a role" }}{{ end -}}
{{- if not (or $in.localAccounts $others) }}{{ fail "signIn.localAccounts: false requires signIn.openid.issuer or signIn.proxyHeaders: otherwise no user could sign in" }}{{ end -}}
{{- end }}
