"""What labels of a node say: where NVSentinel stands with it, from quarantine to repair.

The label comes with the cordon and goes with it; on a node that is given out again it was left behind (NVSentinel #753: what it
writes on a node may outlive the repair), and says nothing of now. It is the node's: the check that found something names the cards.
Source: NVIDIA/NVSentinel at 227932c (commons/pkg/statemanager, fault-quarantine, docs/runbooks).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from kube.objects import Node
from stacks.engine.base import HEALTH_UNKNOWN, UNHEALTHY, HealthReport
from wording.said import gettext_noop

STATE = "dgxc.nvidia.com/nvsentinel-state"
#: When it was cordoned; the prefix is a setting of NVSentinel, this is the shipped one.
CORDONED_AT = "k8saas.nvidia.com/cordon-timestamp"
SOURCE, CODE = "nvsentinel", "nvsentinel-state"
_TEXT = 100


class _State(NamedTuple):
    says: str
    action: str


_WAIT, _STUCK = "wait-for-repair", "repair-by-hand"
STATES: Mapping[str, _State] = {
    "quarantined": _State(gettext_noop("NVSentinel quarantined the node after a fault"), _WAIT),
    "draining": _State(gettext_noop("NVSentinel is draining the node after a fault"), _WAIT),
    "drain-succeeded": _State(gettext_noop("NVSentinel drained the node after a fault. The repair is next"), _WAIT),
    "drain-failed": _State(gettext_noop("NVSentinel could not drain the node after a fault"), _STUCK),
    "remediating": _State(gettext_noop("NVSentinel is repairing the node"), _WAIT),
    "remediation-succeeded": _State(
        gettext_noop("NVSentinel requested a repair of the node. The repair may still be running"), _WAIT
    ),
    "remediation-failed": _State(gettext_noop("NVSentinel could not repair the node"), _STUCK),
}
ANOTHER = gettext_noop("NVSentinel set an unknown state on the node")
LEFT_BEHIND = gettext_noop("The node is back in service but still has the fault label of NVSentinel")
SAYS = (*(state.says for state in STATES.values()), ANOTHER, LEFT_BEHIND)


def said(node: Node) -> tuple[HealthReport, ...]:
    labels = node.metadata.labels or {}
    state = labels.get(STATE)
    if state is None:
        return ()
    text = f"{STATE}={state}"[:_TEXT]
    if not (node.spec and node.spec.unschedulable):
        return (HealthReport(source=SOURCE, level=HEALTH_UNKNOWN, code=CODE, says=LEFT_BEHIND, text=text),)
    known = STATES.get(state, _State(ANOTHER, "check-node"))
    since = _moment(labels.get(CORDONED_AT, ""))
    return (
        HealthReport(
            source=SOURCE, level=UNHEALTHY, code=CODE, says=known.says, text=text, since=since, action=known.action
        ),
    )


def _moment(text: str) -> float | None:
    """Unix seconds of 2026-01-31T08-05-09Z, as a label may hold it; None where it is none."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H-%M-%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
