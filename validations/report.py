"""The report of a campaign: what was asked for, what was proven on which card, and what was not reached. With a hash of its content.

The same stored campaign gives the same bytes: the canonical form is JSON in ASCII, names sorted, no blanks, no new line at the end,
times in UTC (ISO 8601). Its SHA-256 stands on the page, and a reader can compute it anew from the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db.models import Exists, OuterRef

from inventory.models import Card
from validations import missed
from validations.coverage import coverage
from validations.models import SAYS, Campaign, CampaignTarget, LevelChoice, Run
from wording.said import restored

#: Raised when a part changes its meaning or its name; parts may be added only with a new one, too: they change the hash.
FORMAT = "gpudash-campaign-report/2"
VALIDATED, FAILED, INCONCLUSIVE = "validated", "failed", "inconclusive"
#: Outcomes of a card that was reached.
TESTED = (VALIDATED, FAILED, INCONCLUSIVE)
#: Columns of runs that the report does not read.
_LARGE = ("manifest", "facts", "node_snapshot", "options")


def content(campaign: Campaign) -> dict[str, Any]:
    """The report as plain JSON values; null for what is not known. Seven queries, whatever the number of places."""
    joined = CampaignTarget.objects.filter(campaign=campaign).select_related("cluster", "run", "tried")
    targets = list(
        joined.defer(*(f"{run}__{name}" for run in ("run", "tried") for name in _LARGE)).order_by("position")
    )
    cards = _cards(campaign)
    placed = {one.run_id for one in targets}
    runs = list(Run.objects.filter(campaign=campaign).select_related("cluster").defer(*_LARGE).order_by("id"))
    found = coverage(campaign)
    return {
        "format": FORMAT,
        "campaign": {
            "id": campaign.pk,
            "name": campaign.name or None,
            "started_by": campaign.requested_by_name or None,
            "state": campaign.state,
            "state_reason": campaign.state_reason or None,
            "created_at": moment(campaign.created_at),
            "ended_at": moment(campaign.ended_at),
            "clusters": sorted({one.cluster.name for one in targets}),
            "options": campaign.options,
        },
        "suite": {
            "id": campaign.suite,
            "parser_versions": sorted({run.parser_version for run in runs if run.parser_version is not None}),
            "levels": sorted({run.level_possible for run in runs if run.level_possible}),
        },
        "images": of_runs_images(runs),
        "drivers": sorted({run.driver_version for run in runs if run.driver_version}),
        "coverage": msgspec.to_builtins(found),
        "targets": [_place(one, cards, campaign.state) for one in targets],
        "other_runs": [of_run(run) | _where(run) for run in runs if run.pk not in placed and run.ended_at is not None],
    }


def canonical(report: dict[str, Any]) -> bytes:
    """The bytes of which the hash is made."""
    return json.dumps(report, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def sha256(data: bytes) -> str:
    """64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC to the second: 2024-05-01T12:00:00Z."""
    return None if at is None else at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def differences(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two reports differ: path ("places[3].verdict"), the old value and the new one; None where there is none."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from differences(old.get(name), new.get(name), f"{path}.{name}" if path else str(name))
    elif isinstance(old, list) and isinstance(new, list):
        for number in range(max(len(old), len(new))):
            then, now = (rows[number] if number < len(rows) else None for rows in (old, new))
            yield from differences(then, now, f"{path}[{number}]")
    elif old != new:
        yield path, old, new


def _cards(campaign: Campaign) -> dict[tuple[int, str, str], Card]:
    """Cards of the places; of several of one key the newest."""
    asked = CampaignTarget.objects.filter(campaign=campaign, cluster_id=OuterRef("cluster_id"))
    mine = Exists(asked.filter(node_name=OuterRef("node_name"), card_key=OuterRef("key")))
    rows = Card.objects.filter(mine).only("cluster_id", "node_name", "key", "index", "uuid", "model").order_by("id")
    return {(one.cluster_id, one.node_name, one.key): one for one in rows.iterator(5000)}


def of_runs_images(runs: list[Run]) -> list[dict[str, Any]]:
    """What ran, each image with each digest once. own: the image that the suite brings; another proves nothing."""
    found = sorted({(run.image, run.image_digest, run.own_image) for run in runs if run.image})
    return [{"image": image, "digest": digest or None, "own": own} for image, digest, own in found]


def _place(target: CampaignTarget, cards: dict[tuple[int, str, str], Card], state: str) -> dict[str, Any]:
    card = cards.get((target.cluster_id, target.node_name, target.card_key))
    run = target.run
    outcome = _outcome(target, state)
    told = {
        "position": target.position,
        "cluster": target.cluster.name,
        "node": target.node_name,
        "card": target.card_key or None,
        "index": card.index if card else None,
        "uuid": (card.uuid if card else "") or (run.card_uuid if run and outcome in TESTED else "") or None,
        "model": (run.card_model if run else "") or (card.model if card else "") or None,
        "outcome": outcome,
        "why_not": restored(target.not_tested or target.skipped, target.wording) or None,
        "tried": target.tried_id,
    }
    return told | of_run(run)


def _outcome(target: CampaignTarget, state: str) -> str:
    """proven, lower, failed; else the cause for which no run with a result took the card."""
    run, tried = target.run, target.tried
    if run is not None and run.verdict in SAYS and target.card_key in ("", run.card_key):
        if run.verdict == FAILED:
            return FAILED
        return VALIDATED if run.verdict == "passed" and run.level == LevelChoice.CHECKED else INCONCLUSIVE
    tried_card = tried.card_key if tried else None
    if run is None:
        place = missed.Place(None, None, None, None, target.skipped, target.not_tested, tried_card)
    else:
        place = missed.Place(
            run.state, run.verdict, run.card_key, run.ending, target.skipped, target.not_tested, tried_card
        )
    return missed.cause(place, state)


def _where(run: Run) -> dict[str, Any]:
    names = {"cluster": run.cluster.name, "node": run.node_name, "card": run.card_key or None}
    return names | {"uuid": run.card_uuid or None, "model": run.card_model or None}


def of_run(run: Run | None) -> dict[str, Any]:
    if run is None:
        names = (
            "run",
            "verdict",
            "level",
            "reason",
            "reason_text",
            "judged_by",
            "driver",
            "image",
            "image_digest",
            "own_image",
        )
        return dict.fromkeys((*names, "parser_version", "started_at", "ended_at", "tested_card"))
    return {
        "run": run.pk,
        "verdict": run.verdict,
        "level": run.level or None,
        "reason": run.reason_code or None,
        "reason_text": run.reason_text or None,
        "judged_by": run.judged_by or None,
        "driver": run.driver_version or None,
        "image": run.image or None,
        "image_digest": run.image_digest or None,
        "own_image": run.own_image,
        "parser_version": run.parser_version,
        "started_at": moment(run.started_at),
        "ended_at": moment(run.ended_at),
        "tested_card": run.card_key or None,
    }
