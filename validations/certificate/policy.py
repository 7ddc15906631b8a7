"""The report of a policy at one moment: what its cards are, and the run that each rests on. Same form as that of a campaign."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db.models import OuterRef, Subquery

from inventory.models import Card
from validations.models import LevelChoice, Policy, PolicyCard, PolicyState
from validations.policies.manage import draft_of
from validations.report import FAILED, INCONCLUSIVE, VALIDATED, moment, of_run, of_runs_images

FORMAT = "gpudash-policy-report/1"
_LARGE = ("manifest", "facts", "node_snapshot", "options")


def content(policy: Policy) -> dict[str, Any]:
    """Plain JSON values; null for what is not known. Two queries, whatever the number of cards."""
    newest = Card.objects.filter(
        cluster_id=OuterRef("cluster_id"), node_name=OuterRef("node_name"), key=OuterRef("card_key")
    ).order_by("-id")
    named = {f"found_{name}": Subquery(newest.values(name)[:1]) for name in ("index", "uuid", "model")}
    rows = (
        PolicyCard.objects.filter(policy=policy)
        .select_related("cluster", "run")
        .defer(*(f"run__{name}" for name in _LARGE))
        .annotate(**named)
        .order_by("cluster__name", "node_name", "card_key")
    )
    cards = list(rows)
    runs = [one.run for one in cards if one.run is not None]
    draft = msgspec.to_builtins(draft_of(policy))
    return {
        "format": FORMAT,
        "policy": draft
        | {
            "id": policy.pk,
            "created_by": policy.requested_by_name or None,
            "created_at": moment(policy.created_at),
            "changed_at": moment(policy.changed_at),
            "evaluated_at": moment(policy.evaluated_at),
            "clusters": sorted({one.cluster.name for one in cards}),
        },
        "suite": {
            "id": policy.suite,
            "parser_versions": sorted({run.parser_version for run in runs if run.parser_version is not None}),
            "levels": sorted({run.level_possible for run in runs if run.level_possible}),
        },
        "images": of_runs_images(runs),
        "drivers": sorted({run.driver_version for run in runs if run.driver_version}),
        "targets": [_card(place, one) for place, one in enumerate(cards)],
    }


def _card(position: int, row: Any) -> dict[str, Any]:
    run = row.run
    told = {
        "position": position,
        "cluster": row.cluster.name,
        "node": row.node_name,
        "card": row.card_key or None,
        "index": row.found_index,
        "uuid": (run.card_uuid if run else "") or row.found_uuid or None,
        "model": (run.card_model if run else "") or row.found_model or None,
        "outcome": _outcome(row),
        "state": row.state,
        "since": moment(row.since),
        "valid_until": moment(row.valid_until),
        "why_not": (row.hindrance or row.reason or None) if row.state != PolicyState.VALID else None,
        "tried": None,
    }
    return told | of_run(run)


def _outcome(row: PolicyCard) -> str:
    """A card that is valid by a lower level, or by the word of another tool, is not validated."""
    if row.state == PolicyState.FAILED:
        return FAILED
    if row.state != PolicyState.VALID:
        return str(row.state)
    run = row.run
    checked = run is not None and run.verdict == "passed" and run.level == LevelChoice.CHECKED and run.own_image
    return VALIDATED if checked else INCONCLUSIVE
