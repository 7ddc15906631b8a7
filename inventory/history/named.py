"""What a reader names, found: one card, node, pool, namespace or cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inventory.models import Allocation, Card, Cluster, HistoryDay, NodeTotals, Subject

#: Parameters that name a subject; a cluster is named beside all of them but a card.
OF_A_CLUSTER = (Subject.NODE, Subject.POOL, Subject.NAMESPACE)
PARAMETERS: tuple[str, ...] = (Subject.CARD, Subject.CLUSTER, *OF_A_CLUSTER)


class NotOne(Exception):
    """The parameters name none, or more than one. parameter: the one to change; text: how."""

    def __init__(self, parameter: str, text: str) -> None:
        super().__init__(f"{parameter}: {text}")
        self.parameter, self.text = parameter, text


class NothingThere(Exception):
    """There is no such thing, and no history of it."""


@dataclass(frozen=True)
class Named:
    """A subject. key: as in `HistoryDay`. card: of a card, its row."""

    cluster: Cluster
    subject: Subject
    key: str
    card: Card | None = None

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters that name it."""
        if self.subject == Subject.CARD:
            return {"card": self.key}
        mine = {} if self.subject == Subject.CLUSTER else {self.subject.value: self.key}
        return {"cluster": self.cluster.name} | mine


def find(parameters: Mapping[str, str]) -> Named:
    """parameters: name → value. Raises NotOne and NothingThere."""
    given = {name: parameters[name] for name in PARAMETERS if name in parameters}
    if any("\x00" in value for value in given.values()):  # no name has one, and a database refuses to look for it
        raise NothingThere(next(iter(given)))
    if Subject.CARD in given:
        if len(given) > 1:
            raise NotOne(next(name for name in given if name != Subject.CARD), "Cannot be combined with card.")
        return _card(given[Subject.CARD])
    if Subject.CLUSTER not in given:
        raise NotOne("cluster", "Must name a cluster, or give card=NUMBER alone.")
    cluster = Cluster.objects.filter(name=given[Subject.CLUSTER]).first()
    if cluster is None:
        raise NothingThere("cluster")
    parts = [subject for subject in OF_A_CLUSTER if subject in given]
    if len(parts) > 1:
        raise NotOne(parts[1], f"Cannot be combined with {parts[0]}.")
    if not parts:
        return Named(cluster, Subject.CLUSTER, "")
    [subject] = parts
    if not _is_there(cluster, subject, given[subject]):
        raise NothingThere(subject.value)
    return Named(cluster, subject, given[subject])


def _card(number: str) -> Named:
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise NotOne("card", "Must be the number of a card.")
    card = Card.objects.select_related("cluster").filter(pk=int(number)).first()
    if card is None:
        raise NothingThere("card")
    return Named(card.cluster, Subject.CARD, str(card.pk), card)


def _is_there(cluster: Cluster, subject: Subject, key: str) -> bool:
    present = {
        Subject.NODE: NodeTotals.objects.filter(cluster=cluster, node_name=key),
        Subject.POOL: NodeTotals.objects.filter(cluster=cluster, pool=key),
        Subject.NAMESPACE: Allocation.objects.filter(cluster=cluster, namespace=key, ended_at=None),
    }
    return present[subject].exists() or HistoryDay.objects.filter(cluster=cluster, subject=subject, key=key).exists()


def pools_of(cluster: Cluster, most: int) -> list[str]:
    """Pools of a cluster now, at most so many."""
    names = NodeTotals.objects.filter(cluster=cluster).order_by("pool").values_list("pool", flat=True)
    return list(names.distinct()[:most])


def namespaces_of(cluster: Cluster, most: int) -> list[str]:
    """Namespaces with allocations in a cluster now, at most so many."""
    names = Allocation.objects.filter(cluster=cluster, ended_at=None).order_by("namespace")
    return list(names.values_list("namespace", flat=True).distinct()[:most])
