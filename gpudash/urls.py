"""All addresses. `gpudash.access.middleware` closes each of them unless its view says that it is open."""

from __future__ import annotations

from django.urls import include, path
from django.views.i18n import set_language
from drf_spectacular.views import SpectacularSwaggerSplitView

from gpudash.access.required import open_to_all
from gpudash.health import healthz, readyz
from gpudash.metrics import metrics

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("i18n/setlang/", open_to_all(set_language), name="set_language"),
    path("api/v1/", include("gpudash.api.router")),
    path(
        "api-docs",
        SpectacularSwaggerSplitView.as_view(url_name="api-schema", http_method_names=["get", "head"]),
        name="api-docs",
    ),
    path("", include("gpudash.access.urls")),
    path("", include("validations.urls")),
    path("", include("inventory.urls")),
]

handler400 = "gpudash.refusals.bad_request"
handler403 = "gpudash.refusals.permission_denied"
handler404 = "gpudash.refusals.not_found"
handler500 = "gpudash.refusals.server_error"
