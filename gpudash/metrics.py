"""/metrics: what each app has to say, put together. A collector is a function without arguments that gives text by family.

`settings.METRICS_COLLECTORS` names them, so that no app has to know another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

COLLECTORS = ("inventory.metrics.families",)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    paths: Iterable[str] = getattr(settings, "METRICS_COLLECTORS", COLLECTORS)
    collectors: list[Callable[[], Iterable[str]]] = [import_string(path) for path in paths]
    return HttpResponse((text for collect in collectors for text in collect()), content_type=CONTENT_TYPE)
