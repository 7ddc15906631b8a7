"""What to do about a card that sources report as unhealthy or degraded: steps in order, with commands to copy. Asks no table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from shlex import quote

from django.utils.translation import gettext as _

from inventory.health.shown import ShownReport
from inventory.models import Allocation, Card
from stacks.engine import base

#: Actions that a workload does not survive. Of each group one is a step.
_RESETS = frozenset(("reset", "reset-and-check", "reset-or-replace", "reset-bus", "drain-peers", "drain-and-reset"))
_REBOOTS = frozenset(("reboot", "reboot-or-replace", "restart-vm", "recover-domain"))
_REPLACEMENTS = frozenset(("replace", "replace-machine", "support"))
_GROUPS = (_REPLACEMENTS, _REBOOTS, _RESETS)
#: Pods that are named.
_MOST_PODS = 4


@dataclass(frozen=True)
class Step:
    """text: of ours, with code between backticks. validate: it ends with a link to the launch form."""

    text: str
    commands: list[str] = field(default_factory=list)
    validate: bool = False


def worst_of(reports: Sequence[ShownReport]) -> list[ShownReport]:
    """reports: the worst first. Those of the worst level, where that is a fault."""
    return [one for one in reports if one.level == reports[0].level and one.level in (base.UNHEALTHY, base.DEGRADED)]


def steps(card: Card, held: Iterable[Allocation], reports: Sequence[ShownReport]) -> list[Step]:
    """held: who has the card now."""
    actions: dict[object, ShownReport] = {}
    for one in worst_of(reports):
        if one.remedy:
            actions.setdefault(next((group for group in _GROUPS if one.action in group), one.action), one)
    if not actions:
        return []
    # What is replaced need not be reset.
    hard = next((group for group in _GROUPS if group in actions), None)
    actions = {key: one for key, one in actions.items() if key not in _GROUPS or key == hard}
    made = [Step(_(str(one.remedy)), _reset(card) if key == _RESETS else []) for key, one in actions.items()]
    if hard is None:
        return [*made, Step(_("Validate the card"), validate=True)]
    node = quote(card.node_name)
    return [
        Step(_("Cordon the node"), [f"kubectl cordon {node}"]),
        *_move(held),
        *made,
        Step(_("Validate the card"), validate=True),
        Step(_("Uncordon the node"), [f"kubectl uncordon {node}"]),
    ]


def _move(held: Iterable[Allocation]) -> list[Step]:
    pods = {one.pod_uid: one for one in held}
    seen = [one for one in pods.values() if not one.foreign][:_MOST_PODS]
    commands = [f"kubectl delete pod -n {quote(one.namespace)} {quote(one.pod)}" for one in seen]
    return [Step(_("Wait until the pods of the card end, or delete them"), commands)] if pods else []


def _reset(card: Card) -> list[str]:
    return (
        [f"nvidia-smi --gpu-reset -i {quote(card.uuid)}"] if card.uuid.startswith("GPU-") and not card.profile else []
    )
