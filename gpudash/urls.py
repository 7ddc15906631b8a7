"""All addresses. `gpudash.access.middleware` closes each of them unless its view says that it is open."""

from __future__ import annotations

from importlib.util import find_spec

from django.urls import include, path
from django.views.i18n import set_language

from gpudash.access.required import open_to_all
from gpudash.health import healthz, readyz
from gpudash.metrics import metrics

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("i18n/setlang/", open_to_all(set_language), name="set_language"),
    path("api/v1/", include("gpudash.api.router")),
    path("", include("gpudash.access.urls")),
]
if find_spec("inventory.urls"):
    urlpatterns.append(path("", include("inventory.urls")))

handler404 = "gpudash.api.problems.not_found"
handler500 = "gpudash.api.problems.server_error"
