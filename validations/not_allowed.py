"""What the rules refuse is written into the audit log: who wanted to launch what, on what, and by which way.

The rules are those of an administrator: images, pull secrets, taints, roles and scopes. A node that is full or a name that was
mistyped is no refusal by a rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from audit.actions import Action, Kind
from audit.acts import refuse
from audit.who import acting, current
from runtime.scope import EVERYTHING, seeing
from runtime.scope import current as current_scope
from validations.models import Run
from validations.targets import NO_PLACE, NoPlace, find_place
from wording.said import cut

RULES = frozenset(("image-not-allowed", "secret-not-allowed", "taint", "requester-not-allowed"))
#: A place that is there, for others.
SCOPE = "scope"
#: The way of what nobody asks for at this moment.
WORKER = "worker"


def note_launch(place: tuple[str, str, str], suite: str, options: Any, codes: Iterable[str], text: str) -> None:
    """A request for a run was refused. place: cluster, node, card as they were asked for. codes: of its reasons."""
    why = set(codes) & RULES
    if NO_PLACE in codes and _is_elsewhere(*place):
        why, text = {SCOPE}, ""
    _note(Action.RUN_LAUNCH, "/".join(part for part in place if part), why, suite, options, text)


def note_campaign(name: str, codes: Iterable[str], suite: str, options: Any, text: str) -> None:
    _note(Action.CAMPAIGN_CREATE, name, set(codes) & RULES, suite, options, text)


def note_run(run: Run, code: str, text: str) -> None:
    """The worker does not make the Job of a run that was asked for, since a rule does not let it any more."""
    place = "/".join(part for part in (run.cluster.name, run.node_name, run.card_requested) if part)
    asked = msgspec.structs.replace(current(), name=run.requested_by_name, kind=Kind.PROCESS.value)
    with acting(asked):
        _note(Action.RUN_LAUNCH, place, {code} & RULES, run.suite, run.options, text, run.pk)


def _note(action: Action, target: str, why: set[str], suite: str, options: Any, text: str, run: str = "") -> None:
    if not why:
        return
    given = options if isinstance(options, dict) else {}
    asked = {name: str(given[name])[:255] for name in ("image", "pull_secret") if given.get(name)}
    told = {"why": ", ".join(sorted(why)), "by": current().via or WORKER, "suite": suite[:64], "text": cut(text, 500)}
    refuse(action, target, run=run, **told, **asked)


def _is_elsewhere(cluster: str, node: str, card: str) -> bool:
    """Whether the place is there, and only not for who asks."""
    if current_scope() == EVERYTHING:
        return False
    try:
        with seeing(EVERYTHING):
            find_place(cluster, node, card)
    except NoPlace:
        return False
    return True
