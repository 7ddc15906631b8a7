"""What the GPU Operator is doing to a node: a driver upgrade, a change of the MIG layout. Both take the plugin away for a while.

Sources: NVIDIA/gpu-operator v26.7 (labels of operands, upgrade states), NVIDIA/mig-parted (states of a change).
"""

from __future__ import annotations

from kube.objects import Node
from stacks.engine.base import WARNING, Finding
from stacks.engine.names import labels_of
from stacks.engine.stack import Entry, Labels
from stacks.nvidia.gfd import INVALID, MIG_CONFIG, MIG_STATE
from stacks.nvidia.gfd import read as read_labels
from wording.said import gettext_noop, sentence

UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
#: A node that the operator leaves out of upgrades.
SKIP_UPGRADE = "nvidia.com/gpu-driver-upgrade.skip"
_DEPLOY = "nvidia.com/gpu.deploy."
_FOR_DRIVER, _FOR_MIG = "paused-for-driver-upgrade", "paused-for-mig-change"
#: Before its turn a node serves as ever, and "upgrade-required" may stand there for weeks.
_NOT_UNDER_WAY = frozenset(("", "unknown", "upgrade-required", "upgrade-done"))
_CHANGING = frozenset(("pending", "rebooting"))

FINDINGS = {
    "driver-upgrade": Entry(
        gettext_noop("Driver upgrade not finished"),
        WARNING,
        gettext_noop(
            "The GPU Operator is upgrading the driver of the node, or the upgrade failed. The device plugin is paused."
        ),
        gettext_noop(
            "Wait until the upgrade is done. If it failed or is stuck, check the driver pod and the log of the GPU Operator."
        ),
    ),
    "mig-config": Entry(
        gettext_noop("MIG layout not ready"),
        WARNING,
        gettext_noop(
            "The MIG layout of the node is changing, could not be applied, or does not fit the strategy of the device plugin."
        ),
        gettext_noop(
            "Check the log of the MIG manager, the label nvidia.com/mig.config and the MIG strategy of the plugin."
        ),
    ),
}


def explains(node: Node) -> bool:
    """Whether labels explain that the node offers less than it has, or nothing: nothing is wrong with the cards then."""
    labels = labels_of(node)
    return _upgrade(labels) is not None or _mig_change(labels) is not None or _is_invalid(labels)


def _is_invalid(labels: Labels) -> bool:
    return read_labels(labels).slice_profile == INVALID


def findings(node: Node, whole_offered: bool) -> list[Finding]:
    """What is said of it. whole_offered: the node gives out whole cards."""
    labels = labels_of(node)
    found = [
        Finding(code=code, severity=WARNING, text=text)
        for code, text in (
            ("driver-upgrade", _upgrade(labels)),
            ("mig-config", _mig_change(labels) or _strange(labels) or _layout(labels, whole_offered)),
        )
        if text is not None
    ]
    return found


def _upgrade(labels: Labels) -> str | None:
    state = labels.get(UPGRADE, "")
    paused = [name for name, value in labels.items() if value == _FOR_DRIVER and name.startswith(_DEPLOY)]
    if state == "upgrade-failed":
        return sentence(
            "The driver upgrade on this node failed ({upgrade}={state}). Its cards may no longer be allocatable. "
            "Check the driver pod of this node and the log of the GPU Operator.",
            upgrade=UPGRADE,
            state=state,
        )
    if not paused and state in _NOT_UNDER_WAY:
        return None
    why = f"{UPGRADE}={state[:40]}" if state else f"{sorted(paused)[0]}={_FOR_DRIVER}"
    return sentence(
        "The driver of this node is being upgraded ({why}). The device plugin is paused, so no card is allocatable "
        "until the upgrade is done. If it takes long, check the driver pod.",
        why=why,
    )


def _mig_change(labels: Labels) -> str | None:
    state, wanted = labels.get(MIG_STATE, ""), labels.get(MIG_CONFIG, "")[:60]
    if state == "failed":
        return sentence(
            "The MIG layout {wanted} could not be applied to this node ({mig_state}=failed). The resources of the "
            "node may be missing or from the previous layout. Check the log of the MIG manager: a pod may use a "
            "card, or the card may not support the profile.",
            wanted=f"{wanted!r}",
            mig_state=MIG_STATE,
        )
    paused = any(value == _FOR_MIG and name.startswith(_DEPLOY) for name, value in labels.items())
    if state in _CHANGING or paused:
        return sentence(
            "The MIG layout of this node is changing to {wanted}. The device plugin is off, so the numbers of this "
            "node are stale or 0. If it takes long, check the log of the MIG manager.",
            wanted=f"{wanted!r}",
        )
    return None


def _strange(labels: Labels) -> str | None:
    """A state that is not known here: it explains nothing, and may be trouble."""
    state = labels.get(MIG_STATE, "")
    if state in ("", "success"):
        return None
    return sentence(
        "The MIG manager reports the unknown state {mig_state}={state} for this node. Check its log.",
        mig_state=MIG_STATE,
        state=state[:60],
    )


def _layout(labels: Labels, whole_offered: bool) -> str | None:
    """A layout that is applied, and that the plugin does not give out."""
    said = read_labels(labels)
    if _is_invalid(labels):
        return sentence(
            "The MIG layout of this node does not fit the strategy single ({product}): all cards must have the same "
            "layout. The device plugin does not run with it, and the remaining resources are stale. Use one layout "
            "for all cards, or set the strategy to mixed.",
            product=said.product,
        )
    wanted = labels.get(MIG_CONFIG, "")
    cut = wanted.startswith("all-") and wanted != "all-disabled" and labels.get(MIG_STATE) == "success"
    if cut and whole_offered and not said.mig and not said.slice_profile:
        return sentence(
            "The cards of this node are in MIG mode ({mig_config}={wanted}), but the device plugin offers them as "
            "whole cards: its MIG strategy is none. Pods on these cards may fail. Set the strategy to single or "
            "mixed, or the layout to all-disabled.",
            mig_config=MIG_CONFIG,
            wanted=wanted[:60],
        )
    return None
