"""Which claims pods name, and what is known of each: read together, in one query for a page of pods.

A claim that is not in the mirror may be missing, be for other devices than accelerators, or not be readable: which of these is not
known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from inventory.models import Pod, ResourceClaim
from kube.decoders import decoder
from stacks.dra.asks import Ask, said

#: allocated: it has its devices. pending: nothing was given to it yet. not-made: it is to be made from a template, and has
#: not been. not-seen: no claim of this name is in the mirror. deleting: it is being deleted.
State = Literal["allocated", "pending", "not-made", "not-seen", "deleting"]


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """One claim of a pod. name: what the pod calls it. claim: the object's name, "" when there is none yet. node: where its
    devices are, "" when it has none or they are of no node. requests: None when the claim is not seen."""

    name: str
    claim: str
    template: str
    state: State
    node: str = ""
    requests: tuple[Ask, ...] | None = None

    @property
    def asks(self) -> list[tuple[bool, str]]:
        """(whether it is another way to fulfil the one before, the request in short) of each request."""
        found = self.requests or ()
        before = ("", *(ask.alternative_to for ask in found))
        return [
            (bool(ask.alternative_to) and ask.alternative_to == other, said(ask))
            for ask, other in zip(found, before, strict=False)
        ]

    def __str__(self) -> str:
        asked = "; ".join(f"or {text}" if other else text for other, text in self.asks)
        return asked or self.claim or self.template


def with_claims(pods: Iterable[Pod]) -> list[Pod]:
    """The same pods, each with the list `claimed` of its claims."""
    found = list(pods)
    named = {pod.pk: _named(pod.claims) for pod in found if pod.claims}
    rows = _rows(found, {claim for claims in named.values() for _, claim, _ in claims if claim})
    for pod in found:
        pod.claimed = [  # type: ignore[attr-defined]
            _claimed(*one, rows.get((pod.cluster_id, pod.namespace, one[1]))) for one in named.get(pod.pk, ())
        ]
    return found


def _named(text: str) -> list[tuple[str, str, str]]:
    """(what the pod calls it, the claim's name, the template) of each; nothing when somebody wrote into the column."""
    try:
        return msgspec.json.decode(text, type=list[tuple[str, str, str]])
    except msgspec.DecodeError:
        return []


def _rows(pods: list[Pod], names: set[str]) -> dict[tuple[int, str, str], ResourceClaim]:
    if not names:
        return {}
    clusters, namespaces = {pod.cluster_id for pod in pods}, {pod.namespace for pod in pods if pod.claims}
    rows = ResourceClaim.objects.filter(cluster__in=clusters, namespace__in=namespaces, name__in=names).only(
        "cluster_id", "namespace", "name", "node_name", "allocated", "asks", "deleting"
    )
    return {(row.cluster_id, row.namespace, row.name): row for row in rows}


def _claimed(name: str, claim: str, template: str, row: ResourceClaim | None) -> Claimed:
    if row is None:
        return Claimed(name=name, claim=claim, template=template, state="not-seen" if claim else "not-made")
    state: State = "deleting" if row.deleting else "allocated" if row.allocated else "pending"
    return Claimed(
        name=name, claim=claim, template=template, state=state, node=row.node_name, requests=_requests(row.asks)
    )


def _requests(text: str) -> tuple[Ask, ...] | None:
    try:
        return decoder(tuple[Ask, ...]).decode(text) if text else None
    except msgspec.DecodeError:
        return None
