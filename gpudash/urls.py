"""All addresses. `gpudash.middleware.roles` closes each of them unless its view says that it is open."""

from __future__ import annotations

from django.urls import include, path
from django.views.i18n import set_language

from accounts.required import open_to_all
from api.metrics import metrics, metrics_self
from api.urls import root_view
from gpudash.health import healthz, readyz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("metrics/self", metrics_self, name="metrics-self"),
    path("i18n/setlang/", open_to_all(set_language), name="set_language"),
    path("api/v1", root_view, name="api-root"),
    path("api/v1/", include("api.urls")),
    path("", include("pages.urls")),
]

handler400 = "gpudash.middleware.refusals.bad_request"
handler403 = "gpudash.middleware.refusals.permission_denied"
handler404 = "gpudash.middleware.refusals.not_found"
handler500 = "gpudash.middleware.refusals.server_error"
