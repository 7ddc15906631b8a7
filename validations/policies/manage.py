"""A policy is made, changed, paused and deleted: by form, REST and command alike. Each is in the audit log, with before and after."""

from __future__ import annotations

from typing import Any

import msgspec
from django.db import IntegrityError

from audit.actions import Action
from audit.acts import act
from inventory.models import Cluster
from runtime.clock import database_now
from validations.allowed_images import denied
from validations.models import LevelChoice, Policy, PolicySwitch
from validations.planning import Refused, find_suite
from validations.policies.windows import BadWindow, checked
from validations.suites.engine.base import LEVELS, OptionError
from wording.said import sentence

LONGEST_NAME = 100
#: Letters of the columns that hold names of a cluster.
_LONGEST = {"pool": 255, "model": 128, "stack": 32, "window_cron": 100, "time_zone": 64}
LEAST_AGE_S, MOST_AGE_S = 3600, 366 * 86_400
MOST_NUMBER, MOST_LABELS = 10_000, 20
#: The columns that whoever makes a policy fills in.
FIELDS = (
    *("name", "suite", "options", "level", "cluster", "pool", "model", "stack", "node_labels"),
    *("max_age_s", "void_on_driver", "void_on_reboot", "void_on_machine", "void_on_image", "counts_imported"),
    *("window_cron", "window_minutes", "time_zone", "max_per_cluster", "max_per_pool", "card_minutes_per_day"),
    *("keep_free_nodes", "keep_free_cards"),
)
#: What decides which cards a policy may take out of service.
_ALLOWED_AS = ("suite", "options", "level", "cluster", "pool", "model", "stack", "node_labels")
_NUMBERS = {
    "max_age_s": (LEAST_AGE_S, MOST_AGE_S, False),
    "max_per_cluster": (1, MOST_NUMBER, False),
    "max_per_pool": (1, MOST_NUMBER, True),
    "card_minutes_per_day": (1, 1440, True),
    "keep_free_nodes": (0, MOST_NUMBER, False),
    "keep_free_cards": (0, MOST_NUMBER, False),
}


class PolicyDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A policy to create. cluster: its name; "" for all clusters. pool, model, stack: "" for all."""

    name: str
    suite: str
    options: dict[str, Any] = {}
    level: str = LevelChoice.CHECKED.value
    cluster: str = ""
    pool: str = ""
    model: str = ""
    stack: str = ""
    node_labels: dict[str, str] = {}
    max_age_s: int = 7 * 86_400
    void_on_driver: bool = True
    void_on_reboot: bool = False
    void_on_machine: bool = True
    void_on_image: bool = True
    counts_imported: bool = False
    window_cron: str = ""
    window_minutes: int | None = None
    time_zone: str = "UTC"
    max_per_cluster: int = 4
    max_per_pool: int | None = None
    card_minutes_per_day: int | None = None
    keep_free_nodes: int = 0
    keep_free_cards: int = 0


def draft_of(policy: Policy) -> PolicyDraft:
    """What the policy is now."""
    values = {name: getattr(policy, name) for name in FIELDS if name != "cluster"}
    return PolicyDraft(cluster=policy.cluster.name if policy.cluster else "", **values)


def row_of(draft: PolicyDraft, policy: Policy | None = None) -> Policy:
    """The row, not written. policy: the one that is changed; None for a new one. Raises Refused, with all problems at once."""
    problems = _problems(draft)
    cluster = Cluster.objects.filter(name=draft.cluster).first() if draft.cluster else None
    if draft.cluster and cluster is None:
        problems["cluster"] = [sentence("There is no cluster {name}.", name=f"{draft.cluster[:64]!r}")]
    if problems:
        raise Refused(problems)
    row = policy if policy is not None else Policy()
    for name in FIELDS:
        setattr(row, name, getattr(draft, name) if name != "cluster" else cluster)
    return row


def create(draft: PolicyDraft, user: Any = None) -> Policy:
    """A policy that is active at once. Raises Refused."""
    row = row_of(draft)
    row.requested_by, row.requested_by_name = user, user.get_username() if user else ""
    row.created_at = row.changed_at = database_now()
    try:
        with act(Action.POLICY_CREATE, row.name, id=row.pk, **_told(draft)):
            row.save(force_insert=True)
    except IntegrityError:
        raise _taken(draft.name) from None
    return row


def change(policy: Policy, draft: PolicyDraft, user: Any = None) -> Policy:
    """Runs under way go on; the cards are checked again within a minute. user: who answers for it from now on. Raises Refused.

    `takes_out` is switched off where the policy may now reach other cards, or ends by another test.
    """
    before = _told(draft_of(policy))
    row = row_of(draft, policy)
    row.requested_by, row.requested_by_name = user, user.get_username() if user else ""
    row.changed_at = database_now()
    after = _told(draft)
    told = {name: f"{before[name]} → {after[name]}" for name in after if before[name] != after[name]}
    if row.takes_out and not told.keys().isdisjoint(_ALLOWED_AS):
        # An administrator allowed the policy as it was.
        row.takes_out, told["takes_out"] = False, "True → False"
    try:
        with act(Action.POLICY_CHANGE, row.name, id=row.pk, **told) as changed:
            row.save(force_update=True)
            if not told:
                changed.nothing()
    except IntegrityError:
        raise _taken(draft.name) from None
    return row


def pause(policy: Policy, paused: bool) -> None:
    """A paused policy starts nothing; its cards are still looked at. Runs under way go on."""
    with act(Action.POLICY_CHANGE, policy.name, id=policy.pk, paused=f"{not paused} → {paused}") as changed:
        if (
            not Policy.objects.filter(pk=policy.pk)
            .exclude(paused=paused)
            .update(paused=paused, changed_at=database_now())
        ):
            changed.nothing()
    policy.paused = paused


def take_out(policy: Policy, takes_out: bool) -> None:
    """Whether cards whose failure it confirms are taken out of service without asking. For administrators: who calls checks that."""
    with act(Action.POLICY_CHANGE, policy.name, id=policy.pk, takes_out=f"{not takes_out} → {takes_out}") as changed:
        other = Policy.objects.filter(pk=policy.pk).exclude(takes_out=takes_out)
        if not other.update(takes_out=takes_out, changed_at=database_now()):
            changed.nothing()
    policy.takes_out = takes_out


def pause_all(paused: bool, user: Any = None) -> None:
    """The switch of all policies: while it is off none starts a run. A run that has not started yet is skipped."""
    with act(Action.POLICY_SWITCH, "", paused=f"{not paused} → {paused}") as changed:
        switch, _ = PolicySwitch.objects.select_for_update().get_or_create(pk=1)
        if switch.paused == paused:
            changed.nothing()
            return
        switch.paused, switch.changed_at = paused, database_now()
        switch.changed_by_name = user.get_username() if user else ""
        switch.save()


def remove(policy: Policy) -> None:
    """The policy, the states of its cards and their counts are deleted; its runs stay, and go on."""
    with act(Action.POLICY_REMOVE, policy.name, id=policy.pk, **_told(draft_of(policy))):
        policy.delete()


def _problems(draft: PolicyDraft) -> dict[str, list[str]]:
    problems: dict[str, list[str]] = {}
    if not 1 <= len(draft.name.strip()) <= LONGEST_NAME or not draft.name.isprintable():
        problems["name"] = [sentence("Must have 1 to {most} characters.", most=LONGEST_NAME)]
    problems |= _of_suite(draft)
    for name, (least, most, may_lack) in _NUMBERS.items():
        value = getattr(draft, name)
        if value is None and may_lack:
            continue
        if value is None or not least <= value <= most:
            problems[name] = [sentence("Must be an integer from {least} to {most}.", least=least, most=most)]
    for name, most in _LONGEST.items():
        if len(text := getattr(draft, name)) > most or "\0" in text:
            problems[name] = [sentence("At most {most} characters.", most=most)]
    if any("\0" in text or len(text) > 253 for pair in draft.node_labels.items() for text in pair):
        problems["node_labels"] = [sentence("Must be labels of a node: KEY=VALUE.")]
    if len(draft.node_labels) > MOST_LABELS:
        problems["node_labels"] = [sentence("At most {most} labels.", most=MOST_LABELS)]
    try:
        checked(draft.window_cron, draft.window_minutes, draft.time_zone)
    except BadWindow as error:
        problems[error.field] = [error.args[0]]
    return problems


def _of_suite(draft: PolicyDraft) -> dict[str, list[str]]:
    """Wrong options, and a level that the suite cannot reach with them: such a policy would never be met."""
    problems: dict[str, list[str]] = {}
    try:
        suite = find_suite(draft.suite)
        settled = suite.settle(draft.options)
    except Refused as error:
        return dict(error.problems)
    except OptionError as error:
        return {f"options.{name}": [text] for name, text in error.problems.items()}
    problems |= {f"options.{one.option}": [one.text] for one in denied(suite, settled, {})}
    if draft.level not in LevelChoice.values or draft.level == LevelChoice.NONE:
        problems["level"] = [sentence("Must be one of: {names}.", names=", ".join(LevelChoice.values[1:]))]
    elif LEVELS.index(suite.grade(draft.options).level) < LEVELS.index(draft.level):
        problems["level"] = [
            sentence(
                "A pass of {suite} with these options reaches at most the level {level}.",
                suite=suite.id,
                level=suite.grade(draft.options).level,
            )
        ]
    if suite.nodes > 1 or int(settled.get("cards", suite.cards)) != 1:
        problems["suite"] = [sentence("Must be a suite that tests one card.")]
    return problems


def _taken(name: str) -> Refused:
    return Refused({"name": [sentence("Policy {name} already exists.", name=f"{name!r}")]})


def _told(draft: PolicyDraft) -> dict[str, str]:
    """For the audit log."""
    return {name: str(getattr(draft, name)) for name in FIELDS if name != "name"}
