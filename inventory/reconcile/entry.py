"""One node in the books: the rows that are there, beside the columns that its account wants."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from inventory.mirror.kinds import Columns
from inventory.models import Allocation, Card, Finding, NodeAccount
from inventory.reconcile import rows
from inventory.stacks.engine import base
from kube.objects import Pod

#: (pod uid, container, resource, card key): one hold.
HoldKey: TypeAlias = tuple[str, str, str, str]


class Entry(msgspec.Struct, kw_only=True):
    """account: None when the node is gone or has nothing to do with GPUs. pods: by uid, ended ones too. The rest: stored rows."""

    node: str
    account: base.NodeAccount | None
    pods: dict[str, Pod]
    stored: NodeAccount | None
    cards: dict[str, Card]
    holds: list[Allocation]
    findings: list[Finding]
    card_columns: list[Columns] = []
    card_ids: dict[str, int] = {}

    def __post_init__(self) -> None:
        if self.account is not None:
            self.card_columns = [rows.card_columns(card, self.account) for card in self.account.cards]
        self.card_ids = {key: card.id for key, card in self.cards.items()}

    @property
    def unit_changed(self) -> bool:
        unit = (self.account.unit or "") if self.account else ""
        return unit != (self.stored.unit if self.stored else "")

    def changed_cards(self) -> list[Columns]:
        """Cards to be written: new, changed, or back again."""
        changed = []
        for columns in self.card_columns:
            old = self.cards.get(columns["key"])
            if old is None or old.digest != columns["digest"] or old.gone_at is not None:
                changed.append(columns)
        return changed

    def gone_cards(self) -> list[int]:
        wanted = {columns["key"] for columns in self.card_columns}
        return [card.id for card in self.cards.values() if card.key not in wanted and card.gone_at is None]

    def wanted_holds(self) -> dict[HoldKey, Columns]:
        if self.account is None:
            return {}
        wanted: dict[HoldKey, Columns] = {}
        placed = [held for card in self.account.cards for held in card.allocations]
        for held in (*placed, *self.account.unplaced):
            columns = rows.allocation_columns(held, self.pods.get(held.pod_uid))
            while (key := hold_key(columns)) in wanted:  # a strange pod with two containers of one name: lose neither
                columns["container"] += "+"
            wanted[key] = columns
        return wanted

    def wanted_findings(self) -> dict[tuple[str, str, str], Columns]:
        wanted = {}
        for finding in self.account.findings if self.account else ():
            columns = rows.finding_columns(finding)
            wanted[columns["code"], columns["card_key"], columns["pod"]] = columns
        return wanted


def hold_key(columns: Columns) -> HoldKey:
    return columns["pod_uid"], columns["container"], columns["resource"], columns["card_key"]
