"""/api/v1/usable: may work be put on this node or card, as far as validations say? As JSON for scripts, as SVG for a page."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.html import escape
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from api.frame.base import ApiView
from api.frame.problems import only_known
from api.frame.rendering import MsgspecRenderer
from api.validations.base import check_text
from inventory.models import Card, Cluster
from resources.usable import UsableShape
from validations.policies.usable import UNKNOWN, Usable, of_place
from wording.said import sentence

_NAMES = ("cluster", "node", "card")
_PLACE = [
    OpenApiParameter("cluster", str, description="name of the cluster", required=True),
    OpenApiParameter("node", str, description="name of the node", required=True),
    OpenApiParameter("card", str, description="key, UUID or index of a card; without it: the worst card of the node"),
]
#: Colours with enough contrast to white; the word says the same.
_COLOURS = {"yes": "#14713a", "no": "#b3201f", UNKNOWN: "#5a6472"}
_LETTER, _PAD, _MOST = 7, 8, 40


class SvgRenderer(MsgspecRenderer):
    """The view writes the image itself; what else there is to answer (a problem, the methods) is JSON."""

    media_type = "image/svg+xml"
    format = "svg"


class UsablePlace(ApiView):
    @extend_schema(
        summary="Whether a node or card is usable: yes, no or unknown", parameters=_PLACE, responses=UsableShape
    )
    def get(self, request: Request) -> Response:
        cluster, node, found, card_id = _found(request)
        path = _path(cluster, node, found, card_id)
        return Response(
            UsableShape(
                usable=found.usable,
                reason=found.reason,
                text=found.text,
                card=found.card or None,
                at=found.at,
                run=found.run or None,
                link=request.build_absolute_uri(path) if path else None,
            )
        )


class UsableBadge(ApiView):
    renderer_classes: Any = (*api_settings.DEFAULT_RENDERER_CLASSES, SvgRenderer)

    @extend_schema(
        summary="The same as a badge",
        parameters=_PLACE,
        responses={(200, "image/svg+xml"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        _cluster, node, found, _card = _found(request)
        image = badge(node, found.usable, found.text)
        return HttpResponse(image, content_type="image/svg+xml; charset=utf-8", headers={"Cache-Control": "no-cache"})


def badge(name: str, word: str, text: str) -> str:
    """Two fields: the name, and yes, no or unknown. No script, no font of its own."""
    shown = name if len(name) <= _MOST else f"{name[: _MOST - 1]}…"
    left, right = (len(part) * _LETTER + 2 * _PAD for part in (shown, word))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">'
        f"<title>{_plain(name)}: {_plain(word)}. {_plain(text)}</title>"
        f'<rect width="{left}" height="20" fill="#363d47"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[word]}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14" textLength="{left - 2 * _PAD}">{_plain(shown)}</text>'
        f'<text x="{left + right / 2:g}" y="14" textLength="{right - 2 * _PAD}">{word}</text></g></svg>'
    )


def _plain(text: str) -> str:
    """XML takes no control characters, not even escaped."""
    return escape("".join(letter for letter in text if letter.isprintable()))


def _found(request: Request) -> tuple[str, str, Usable, int | None]:
    """(cluster, node, what is known, id of the card that decides). A place that is not there is unknown, whoever asks."""
    wanted = {name: request.query_params.get(name, "") for name in _NAMES}
    only_known(request, _NAMES)
    if missing := [name for name in ("cluster", "node") if not wanted[name]]:
        raise ValidationError({name: ["Required."] for name in missing})
    check_text(**wanted)
    cluster = Cluster.objects.filter(name=wanted["cluster"]).first()
    if cluster is None:
        text = sentence("There is no cluster {name}.", name=f"{wanted['cluster'][:64]!r}")
        return wanted["cluster"], wanted["node"], Usable(usable=UNKNOWN, reason="no-cluster", text=text), None
    cards = list(
        Card.objects.filter(cluster=cluster, node_name=wanted["node"], removed_at=None).order_by("index", "pk")
    )
    if asked := wanted["card"]:
        named = [card for card in cards if asked in (card.key, card.uuid)]
        cards = named or [card for card in cards if card.index is not None and str(card.index) == asked]
    found = of_place(cluster, wanted["node"], cards, wanted["card"])
    decides = next((card.pk for card in cards if card.key == found.card), None)
    return cluster.name, wanted["node"], found, decides


def _path(cluster: str, node: str, found: Usable, card_id: int | None) -> str:
    if found.run:
        return reverse("run", args=[found.run])
    return reverse("card", args=[card_id]) if card_id else ""
