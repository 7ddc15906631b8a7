"""The grid of a campaign: a row for each node, a cell for each card, so many nodes at a time. Four queries, whatever the campaign.

All cards of a node are drawn, so that one sees which of them the campaign leaves out. Slices of a card stand together in one field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Min, Q
from django.utils.translation import gettext as _

from inventory.models import Card, Cluster
from pages.frame.links import node_url
from pages.rows.cards import card_name, ordinal_of
from pages.rows.runs import card_short
from pages.sections.campaign_lines import TargetLine, target_line
from validations.models import Campaign, CampaignTarget
from validations.querysets import campaign_targets

#: Nodes of a page; fields of a line, and cells of a node that are drawn.
NODES, ACROSS, MOST_CARDS = 25, 16, 128

#: cluster id, name of the node
_Node = tuple[int, str]


@dataclass(frozen=True)
class Cell:
    """A card. line: its target, None for a card that the campaign leaves out. words: all of it, for the title."""

    name: str
    line: TargetLine | None
    words: str


@dataclass(frozen=True)
class NodeLine:
    """A node. lines: of fields; a field has the cells of one card, several where it is sliced."""

    name: str
    cluster: str
    url: str
    lines: list[list[list[Cell]]]


@dataclass(frozen=True)
class Grid:
    """page: which part of the nodes, from 1. heads: of the fields, as far as they are cards' numbers on every node."""

    nodes: list[NodeLine]
    heads: list[str]
    page: int
    pages: int
    all_nodes: int

    @property
    def previous(self) -> int | None:
        return self.page - 1 if self.page > 1 else None

    @property
    def next(self) -> int | None:
        return self.page + 1 if self.page < self.pages else None

    @property
    def left_out(self) -> bool:
        """Whether cards are drawn that are no targets."""
        return any(cell.line is None for node in self.nodes for line in node.lines for field in line for cell in field)


def grid(campaign: Campaign, page: int) -> Grid:
    """page: one that is not there is the last."""
    places = _places(campaign)
    pages = max(1, -(-len(places) // NODES))
    page = min(page, pages)
    shown = places[(page - 1) * NODES : page * NODES]
    names = dict(Cluster.objects.filter(pk__in={cluster for cluster, _name in shown}).values_list("pk", "name"))
    targets, cards = _targets(campaign, shown), _cards(shown)
    fields = {place: _fields(targets[place], cards[place]) for place in shown}
    return Grid(
        nodes=[
            NodeLine(
                name=name,
                cluster=names.get(cluster, ""),
                url=node_url(names.get(cluster, ""), name),
                lines=[mine[begin : begin + ACROSS] for begin in range(0, len(mine), ACROSS)],
            )
            for (cluster, name), mine in fields.items()
        ],
        heads=_heads(cards.values(), list(fields.values())),
        page=page,
        pages=pages,
        all_nodes=len(places),
    )


def _places(campaign: Campaign) -> list[_Node]:
    """All nodes of the campaign in the order of its targets: at most as many as a campaign takes."""
    targets = CampaignTarget.objects.filter(campaign=campaign)
    found = targets.values_list("cluster_id", "node_name").annotate(first=Min("position")).order_by("first")
    return [(cluster, name) for cluster, name, _first in found]


def _of(places: list[_Node]) -> Q:
    """The rows of these nodes: few, so that each is named."""
    found = Q(pk__in=[])
    for cluster in {cluster for cluster, _name in places}:
        found |= Q(cluster_id=cluster, node_name__in=[name for one, name in places if one == cluster])
    return found


def _targets(campaign: Campaign, places: list[_Node]) -> dict[_Node, list[TargetLine]]:
    found: dict[_Node, list[TargetLine]] = defaultdict(list)
    for target in campaign_targets(campaign.pk).filter(_of(places))[: NODES * MOST_CARDS]:
        found[target.cluster_id, target.node_name].append(target_line(target))
    return found


def _cards(places: list[_Node]) -> dict[_Node, list[Card]]:
    found: dict[_Node, list[Card]] = defaultdict(list)
    rows = Card.objects.filter(_of(places), removed_at=None).order_by("index", "id")
    for card in rows[: NODES * MOST_CARDS]:
        found[card.cluster_id, card.node_name].append(card)
    for mine in found.values():
        mine.sort(key=lambda card: (card.index is None, card.index or 0, ordinal_of(card) or 0, card.key))
    return found


def _fields(lines: list[TargetLine], cards: list[Card]) -> list[list[Cell]]:
    """A field for each card that is there, then those that are not there any more, and runs whose card is not known."""
    by_card: dict[str, TargetLine] = {}
    loose = []
    for line in lines:
        key = line.row.card_key or (line.run.row.card_key if line.run else "")
        if key and key not in by_card:
            by_card[key] = line
        else:
            loose.append(line)
    fields: dict[str, list[Cell]] = {}
    for card in cards[:MOST_CARDS]:
        # Slices whose card nothing names are told to be of one.
        of = card.parent or ("" if card.profile else card.key)
        fields.setdefault(of, []).append(_cell(card_name(card), by_card.pop(card.key, None)))
    gone = [[_cell(card_short(key), line)] for key, line in by_card.items()]
    return [*fields.values(), *gone, *([_cell(_("any card"), line)] for line in loose)]


def _cell(name: str, line: TargetLine | None) -> Cell:
    return Cell(name, line, f"{name}: {line.words if line else _('not a target')}")


def _heads(cards: Iterable[list[Card]], fields: list[list[list[Cell]]]) -> list[str]:
    """The numbers of the cards, where each field of each node is the card of that number; else as many blanks."""
    width = min(ACROSS, max(map(len, fields), default=0))
    numbered = all(card.index == place and not card.profile for mine in cards for place, card in enumerate(mine))
    return [str(number) if numbered else "" for number in range(width)]
