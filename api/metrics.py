"""/metrics: what inventory, validations and quarantine have to say. A collector is a function that gives text by family."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from api import self_metrics as scrape
from api.inventory import metrics as inventory
from api.quarantine import metrics as quarantine
from api.validations import metrics as validations

#: In the order of the scrape.
COLLECTORS: tuple[Callable[[], Iterable[str]], ...] = (
    inventory.families,
    validations.families,
    quarantine.families,
)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse((text for collect in COLLECTORS for text in collect()), content_type=CONTENT_TYPE)


@never_cache
@require_safe
def metrics_self(request: HttpRequest) -> HttpResponse:
    """Metrics of gpudash itself."""
    return HttpResponse(scrape.text(), content_type=CONTENT_TYPE)
