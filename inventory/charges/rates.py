"""Prices as they are kept: read as `Rates`, written by REST, command and file. The table is the truth; a file replaces it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import msgspec
import yaml
from django.db import transaction

from audit.actions import Action
from audit.acts import act
from inventory.charges.prices import CURRENCY, LABEL, Rate, Rates, millionths, written
from inventory.models import Price
from kube.decoders import converted
from wording.said import Said, quote, sentence

#: Far more than anybody has hardware.
MOST = 1000
_SELECT = ("label", "pool", "model")
_LONGEST = {"pool": 255, "model": 128}
_MODEL_FIELDS = ("label", "pool", "model", "since", "currency", "card_hour", "gib_hour")


class PriceDraft(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A price from a day on (UTC). label, pool and model choose cards, "" all. Prices are decimals as text, at most 6 decimals.

    Both prices null: the price is unknown from then on.
    """

    currency: str
    since: str
    card_hour: str | None = None
    gib_hour: str | None = None
    label: str = ""
    pool: str = ""
    model: str = ""


class Bad(Exception):
    """problems: field → what is wrong with it."""

    def __init__(self, problems: dict[str, Said], number: int = 0) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems, self.number = problems, number


def rates() -> Rates:
    """One query."""
    return Rates(Rate(*row) for row in Price.objects.values_list(*_MODEL_FIELDS))


def put(draft: PriceDraft) -> tuple[Price, bool]:
    """Write a price; it replaces one for the same cards from the same day. Returns it, and whether it is new. Raises Bad."""
    values = _checked(draft)
    key = {name: values.pop(name) for name in (*_SELECT, "since")}
    with act(Action.PRICE_SET, **_said(draft)) as done:
        if Price.objects.count() >= MOST and not Price.objects.filter(**key).exists():
            raise Bad({"since": sentence("At most {most} prices.", most=MOST)})
        row, new = Price.objects.update_or_create(**key, defaults=values)
        done.on(f"price {row.pk}")
    return row, new


def remove(row: Price) -> None:
    with act(Action.PRICE_REMOVE, f"price {row.pk}", **_said(draft_of(row))):
        row.delete()


def replace_all(drafts: Sequence[PriceDraft]) -> int:
    """These become all prices. Returns how many there are. Raises Bad, with the number of the price; then nothing was written."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, draft in enumerate(drafts, 1):
        try:
            values = _checked(draft)
        except Bad as error:
            raise Bad(error.problems, number) from None
        key = tuple(values[name] for name in (*_SELECT, "since"))
        if key in rows:
            raise Bad({"since": sentence("Another price chooses the same cards from the same day.")}, number)
        rows[key] = values
    if len(rows) > MOST:
        raise Bad({"since": sentence("At most {most} prices.", most=MOST)}, MOST + 1)
    with act(Action.PRICE_SET, "prices", count=len(rows)), transaction.atomic():
        Price.objects.all().delete()
        Price.objects.bulk_create(Price(**values) for values in rows.values())
    return len(rows)


def read_file(data: bytes) -> list[PriceDraft]:
    """Drafts of a YAML or JSON file: a list of objects. Raises Bad. All scalars are read as text: 2.10 stays what it is."""
    try:
        found = yaml.load(data, Loader=yaml.BaseLoader)  # noqa: S506 - it makes texts, lists and objects only
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        raise Bad({"file": sentence("Must be YAML or JSON.")}) from None
    if not isinstance(found, list):
        raise Bad({"file": sentence("Must be a list of prices.")})
    drafts = []
    for number, one in enumerate(found, 1):
        empty = {name for name, value in one.items() if value in ("", "null")} if isinstance(one, dict) else set()
        given = {name: value for name, value in one.items() if name not in empty} if isinstance(one, dict) else one
        try:
            drafts.append(converted(given, PriceDraft))
        except msgspec.ValidationError as error:
            raise Bad({"file": quote(str(error))}, number) from None
    return drafts


def draft_of(row: Price) -> PriceDraft:
    return PriceDraft(
        **{name: getattr(row, name) for name in (*_SELECT, "currency")},
        since=row.since.isoformat(),
        card_hour=written(row.card_hour),
        gib_hour=written(row.gib_hour),
    )


def _said(draft: PriceDraft) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(draft).items() if value}


def _checked(draft: PriceDraft) -> dict[str, Any]:
    """The columns of a price. Raises Bad."""
    values: dict[str, Any] = {name: getattr(draft, name) for name in (*_SELECT, "currency")}
    wrong: dict[str, Said] = {}
    if not CURRENCY.fullmatch(draft.currency):
        wrong["currency"] = sentence("Must be a code of three letters, such as EUR.")
    try:
        values["since"] = date.fromisoformat(draft.since)
    except ValueError:
        wrong["since"] = sentence("Must be a day, such as 2026-11-01.")
    if draft.label and not LABEL.fullmatch(draft.label):
        wrong["label"] = sentence("Must be a label of nodes: KEY=VALUE.")
    for name, longest in _LONGEST.items():
        if "\0" in values[name] or len(values[name]) > longest:
            wrong[name] = sentence("At most {most} characters, without null characters.", most=longest)
    for name in ("card_hour", "gib_hour"):
        text = getattr(draft, name)
        try:
            values[name] = None if text is None else millionths(text)
        except ValueError:
            wrong[name] = sentence("Must be a decimal from 0 with at most 6 decimals, such as 2.10.")
    if wrong:
        raise Bad(wrong)
    return values
