"""A run request becomes a row: permission was asked before, the launch comes after. One transaction, at most once per key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from django.db import IntegrityError
from django.db.models import Q

from audit.actions import Action
from audit.acts import act
from inventory.models import Card
from runtime.clock import database_now
from validations.enqueue import soon
from validations.groups import rows as group_rows
from validations.jobs import workload_key
from validations.lifecycle.end import end_run
from validations.lifecycle.endings import cancelled_by
from validations.lifecycle.gives_way import with_priority
from validations.lifecycle.moves import begin
from validations.models import ACTIVE, Campaign, Policy, Run, RunNode, State
from validations.not_allowed import note_launch
from validations.options_key import options_key
from validations.permitted import check_soon
from validations.planning import Plan, Refused, RunDraft, kept, plan
from validations.suites.engine.manifest import job_name
from validations.suites.engine.reasons import OF_CREDENTIALS, REFUSALS
from validations.targets import Place, snapshot
from wording.said import sentence

_TRIES = 3
LONGEST_KEY = 255


class NotAllowed(Refused):
    """The cluster is known to refuse the launcher. passes: it is over as soon as the credentials are good again."""

    def __init__(self, problems: dict[str, list[str]], passes: bool, codes: Iterable[str] = ()) -> None:
        super().__init__(problems, codes)
        self.passes = passes


class Busy(Exception):
    """Another run holds the place."""

    def __init__(self, run: Run) -> None:
        super().__init__(
            sentence(
                "Run {id} ({suite}) occupies {target_text}. Wait for it or cancel it.",
                id=run.id,
                suite=run.suite,
                target_text=run.target_text,
            )
        )
        self.run = run


class KeyReused(Exception):
    """The idempotency key came before with another request."""


def digest(thing: Any) -> str:
    """A digest of a request, the same for the same content."""
    return hashlib.sha256(msgspec.json.encode(thing, order="sorted")).hexdigest()


def request_run(
    draft: RunDraft,
    user: Any = None,
    key: str = "",
    campaign: Campaign | None = None,
    rerun_of: Run | None = None,
    policy: Policy | None = None,
) -> tuple[Run, bool]:
    """The run and whether it is new. Raises Refused, Busy or KeyReused; then no run was written, but what the rules refused is in the
    audit log, other than for the places of a campaign and the cards of a policy, which keep their reasons."""
    try:
        return _requested(draft, user, key, campaign, rerun_of, policy)
    except Refused as error:
        if campaign is None and policy is None:
            place = (draft.cluster, draft.node or ",".join(draft.nodes), draft.card)
            note_launch(place, draft.suite, draft.options, error.codes, error.words)
        raise


def _requested(
    draft: RunDraft,
    user: Any,
    key: str,
    campaign: Campaign | None,
    rerun_of: Run | None,
    policy: Policy | None,
) -> tuple[Run, bool]:
    _check_key(key)
    said = digest(draft)
    for _ in range(_TRIES):
        if earlier := _earlier(user, key, said):
            return earlier, False
        wanted = plan(draft)
        if hindrances := wanted.hindrances(draft.queue_if_full):
            told = {"node": [f"{one.text} ({one.code})" for one in hindrances]}
            codes = {one.code for one in hindrances}
            if refusals := codes & REFUSALS:
                check_soon(wanted.place.cluster)
                raise NotAllowed(told, refusals <= OF_CREDENTIALS, codes)
            raise Refused(told, codes)
        if holder := holder_of(wanted):
            if key and holder.request_key == key and holder.requested_by == user:
                continue  # it came from the same request, sent twice at once
            raise Busy(holder)
        row = row_of(wanted, draft, user)
        row.request_key, row.request_digest = key, said
        row.campaign, row.rerun_of, row.policy = campaign, rerun_of, policy
        nodes = [one.node.name for one in wanted.group]
        by_policy = {"policy": policy.name} if policy is not None else {}
        with_priority(row.manifest, policy is not None)
        try:
            with act(
                Action.RUN_LAUNCH, _target(row, nodes), run=row.pk, suite=row.suite, image=row.image, **by_policy
            ) as launched:
                _insert(row, group_rows(row.pk, wanted.group) if wanted.group else [])
                if campaign is not None:
                    launched.nothing()  # it is in the campaign's own entry
        except IntegrityError:
            continue  # another request was first: look again what it was
        return row, True
    raise Refused({"node": [sentence("Another request for this target arrived at the same time. Try again.")]})


def _target(run: Run, group: Iterable[str] = ()) -> str:
    """What the audit log calls it. group: its nodes, of a run whose rows are not written yet."""
    place = run.node_name or ",".join(group or run.group)
    return f"{run.cluster.name}/{place}" + (f"/{run.card_requested}" if run.card_requested else "")


def _check_key(key: str) -> None:
    if len(key) > LONGEST_KEY or not key.isprintable():
        raise Refused({"Idempotency-Key": [f"At most {LONGEST_KEY} printable characters are taken."]})


def _earlier(user: Any, key: str, said: str) -> Run | None:
    if not key:
        return None
    found = Run.objects.filter(requested_by=user, request_key=key).first()
    if found is not None and found.request_digest != said:
        raise KeyReused(f"This Idempotency-Key came before with another request (run {found.id}); take a new key.")
    return found


def holder_of(wanted: Plan) -> Run | None:
    """The active run that the new one would collide with."""
    place = wanted.place
    same = Q(card_key=wanted.card.key) if wanted.card else Q(card_key="", suite=wanted.suite.id)
    # Two groups of one suite would share the network between the nodes, and measure each other: one at a time in a cluster.
    node = "" if wanted.group else place.node.name
    return Run.objects.filter(same, cluster=place.cluster, node_name=node, state__in=ACTIVE).first()


def row_of(wanted: Plan, draft: RunDraft, user: Any, at: datetime | None = None) -> Run:
    """The row of a plan that has a manifest, not written yet. at: when it was asked for; None: now."""
    place, card = wanted.place, wanted.card
    asked = place.card
    pod = wanted.manifest["spec"]["template"]["spec"]
    # A row of a group has what all its nodes have in common, and names none of them.
    every = wanted.group or (place,)
    own = not wanted.group
    return Run(
        id=wanted.run_id,
        suite=wanted.suite.id,
        cluster=place.cluster,
        node_name=place.node.name if own else "",
        nodes_count=len(every),
        card=card,
        card_key=card.key if card else "",
        card_uuid=card.uuid if card else "",
        card_model=(card.model if card else "") or _only_model(every),
        card_requested=asked.key if asked else "",
        card_evidence="target" if card else "",
        driver_version=_common(one.node.driver_version for one in every),
        boot_id=place.node.boot_id if own else "",
        machine_id=place.node.machine_id if own else "",
        node_snapshot=snapshot(place) | (kept(wanted.cause) if at is None else {}) if own else {},
        options=draft.options,
        options_key=options_key(wanted.suite, draft.options),
        manifest=wanted.manifest,
        workload_key=workload_key(wanted.manifest),
        image=pod["containers"][0]["image"],
        own_image=wanted.suite.own_image(wanted.options),
        namespace=wanted.manifest["metadata"]["namespace"],
        job_name=job_name(wanted.run_id),
        requested_by=user,
        requested_by_name=user.get_username() if user else "",
        created_at=at or database_now(),
    )


def _common(values: Iterable[str]) -> str:
    """The one that all have, else ""."""
    found = set(values)
    return found.pop() if len(found) == 1 else ""


def _only_model(places: Sequence[Place]) -> str:
    """The card model of a run on "any card": that of the node, or of all nodes, when all cards are alike, else unknown."""
    names = [place.node.name for place in places]
    rows = Card.objects.filter(cluster=places[0].cluster, node_name__in=names, removed_at=None)
    models = set(rows.values_list("model", flat=True)[:64])
    return models.pop() if len(models) == 1 else ""


def _insert(run: Run, nodes: list[RunNode]) -> None:
    begin(run, nodes=nodes)
    soon("launch", run.id)


def request_again(run: Run, user: Any, key: str = "") -> tuple[Run, bool]:
    """The same suite on the same place with the same options. Raises as `request_run`."""
    draft = RunDraft(
        suite=run.suite,
        cluster=run.cluster.name,
        node=run.node_name,
        nodes=run.group,
        card=run.card_requested or (run.card_key if run.card_evidence == "target" else ""),
        options=run.options,
    )
    return request_run(draft, user, key, rerun_of=run)


def request_cancel(run: Run, user: Any) -> bool:
    """Ask for the end of a run; False when it has ended already.

    One that no process has taken up ends at once, whatever of gpudash or of the cluster is away. For the others a worker is asked,
    which ends them also when the cluster refuses, or is not reached.
    """
    rows = Run.objects.filter(pk=run.pk, state__in=ACTIVE, cancel_requested_at=None)
    name = user.get_username() if user else ""
    with act(Action.RUN_CANCEL, _target(run), run=run.pk, suite=run.suite) as cancelled:
        changed = rows.update(cancel_requested_at=database_now(), cancelled_by=name)
        if changed:
            soon("reconcile", run.cluster_id)
        else:
            cancelled.nothing()
    queued = Run.objects.filter(pk=run.pk, state=State.QUEUED, cancel_requested_at__isnull=False).first()
    if queued is not None:
        end_run(queued, State.QUEUED, ending=cancelled_by(queued.cancelled_by).stored(), job_removed=True)
        return True
    return bool(changed) or Run.objects.filter(pk=run.pk, state__in=ACTIVE).exists()
