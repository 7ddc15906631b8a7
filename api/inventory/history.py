"""What was: allocated, used and work over time, of a card, a node, a pool, a namespace or a cluster."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import bad_fields, only_known
from inventory.history import named
from inventory.history.asked import Past, with_past
from inventory.history.series import WINDOWS, series, window_named
from resources.declared import filled
from resources.history import COLUMNS, History, HistoryColumns
from runtime.clock import database_now

DEFAULT = "1d"
_NAMES = ", ".join(one.name for one in WINDOWS)


_PARAMETERS = [
    OpenApiParameter("window", str, enum=[one.name for one in WINDOWS], description=f"how far back ({DEFAULT})")
]


class _History(ApiView):
    #: Parameters of the address besides the window.
    allowed: frozenset[str] = frozenset()

    def told(self, request: Request, **subject: str) -> Response:
        only_known(request, {"window", *self.allowed})
        given = {name: str(value) for name, value in request.query_params.items() if name != "format"}
        window = window_named(given.pop("window", DEFAULT))
        if window is None:
            raise bad_fields({"window": [f"Must be one of: {_NAMES}."]})
        try:
            found = named.find(subject | given)
        except named.NotOne as error:
            raise bad_fields({error.parameter: [error.text]}) from None
        except named.NothingThere as error:
            raise NotFound(f"There is no {error} of this name, and no history of it.") from None
        now = database_now()
        own = series(found.cluster.pk, found.subject, found.key, window, now)
        return Response(_shape(found, window.name, with_past(found, window, own, now)))


class CardHistory(_History):
    @extend_schema(summary="History of a card", responses=History, parameters=_PARAMETERS)
    def get(self, request: Request, card_id: int) -> Response:
        return self.told(request, card=str(card_id))


class NodeHistory(_History):
    @extend_schema(summary="History of a node", responses=History, parameters=_PARAMETERS)
    def get(self, request: Request, cluster: str, name: str) -> Response:
        return self.told(request, cluster=cluster, node=name)


class ClusterHistory(_History):
    allowed = frozenset({"node", "pool", "namespace"})

    @extend_schema(
        summary="History of a cluster, or of one of its nodes, pools or namespaces",
        responses=History,
        parameters=[
            *_PARAMETERS,
            OpenApiParameter("node", str, description="node name, also names that do not fit into a URL"),
            OpenApiParameter("pool", str, description="pool name"),
            OpenApiParameter("namespace", str, description="namespace; only one of node, pool and namespace"),
        ],
    )
    def get(self, request: Request, name: str) -> Response:
        return self.told(request, cluster=name)


def _shape(found: named.Named, window: str, past: Past) -> History:
    return filled(
        History,
        past,
        cluster=found.cluster.name,
        subject=found.subject.value,
        key=found.key,
        window=window,
        columns=HistoryColumns(**{name: past.series.columns.get(column) for name, column in COLUMNS.items()}),
    )
