"""What the GPU Operator is doing to a node: a driver upgrade, a change of the MIG layout. Both take the plugin away for a while.

Sources: NVIDIA/gpu-operator v26.7 (labels of operands, upgrade states), NVIDIA/mig-parted (states of a change).
"""

from __future__ import annotations

from inventory.stacks.engine.base import WARNING, Finding
from inventory.stacks.engine.names import labels_of
from inventory.stacks.engine.stack import Entry, Labels
from inventory.stacks.nvidia.gfd import INVALID, MIG_CONFIG, MIG_STATE
from inventory.stacks.nvidia.gfd import read as read_labels
from kube.objects import Node
from wording.said import sentence

UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
_DEPLOY = "nvidia.com/gpu.deploy."
_FOR_DRIVER, _FOR_MIG = "paused-for-driver-upgrade", "paused-for-mig-change"
#: Before its turn a node serves as ever, and "upgrade-required" may stand there for weeks.
_NOT_UNDER_WAY = frozenset(("", "unknown", "upgrade-required", "upgrade-done"))
_CHANGING = frozenset(("pending", "rebooting"))

FINDINGS = {
    "driver-upgrade": Entry(
        "Driver upgrade under way",
        WARNING,
        "The GPU Operator is replacing the driver of a node, or has failed to: the device plugin is paused meanwhile.",
        "Wait for its end. Where it failed or stands still, look at the driver pod and the operator's log.",
    ),
    "mig-config": Entry(
        "MIG layout",
        WARNING,
        "The MIG layout of a node is being changed, could not be applied, or is none that the device plugin gives out.",
        "Look at the log of the MIG manager, and at nvidia.com/mig.config and the plugin's MIG strategy.",
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
            "The upgrade of the driver on this node has failed ({upgrade}={state}). Its cards may be given out "
            "no longer. Look at the driver pod of this node and at the operator's log.",
            upgrade=UPGRADE,
            state=state,
        )
    if not paused and state in _NOT_UNDER_WAY:
        return None
    why = f"{UPGRADE}={state[:40]}" if state else f"{sorted(paused)[0]}={_FOR_DRIVER}"
    return sentence(
        "The driver of this node is being upgraded ({why}). The device plugin is paused, so the cards are "
        "not given out until it is done. Nothing is wrong with them; look at the driver pod if it takes long.",
        why=why,
    )


def _mig_change(labels: Labels) -> str | None:
    state, wanted = labels.get(MIG_STATE, ""), labels.get(MIG_CONFIG, "")[:60]
    if state == "failed":
        return sentence(
            "The MIG layout {wanted} could not be applied to this node ({mig_state}=failed), so what it offers "
            "may be nothing, or left over from the layout before. Look at the log of the MIG manager: a pod may "
            "hold a card, or the card may not have the profile.",
            wanted=f"{wanted!r}",
            mig_state=MIG_STATE,
        )
    paused = any(value == _FOR_MIG and name.startswith(_DEPLOY) for name, value in labels.items())
    if state in _CHANGING or paused:
        return sentence(
            "The MIG layout of this node is being changed to {wanted}. The device plugin is off meanwhile, so "
            "the numbers of this node are old or 0. Look at the log of the MIG manager if it takes long.",
            wanted=f"{wanted!r}",
        )
    return None


def _strange(labels: Labels) -> str | None:
    """A state that is not known here: it explains nothing, and may be trouble."""
    state = labels.get(MIG_STATE, "")
    if state in ("", "success"):
        return None
    return sentence(
        "The MIG manager says {mig_state}={state} of this node, a state that gpudash does not know. Look at its log.",
        mig_state=MIG_STATE,
        state=state[:60],
    )


def _layout(labels: Labels, whole_offered: bool) -> str | None:
    """A layout that is applied, and that the plugin does not give out."""
    said = read_labels(labels)
    if _is_invalid(labels):
        return sentence(
            "The MIG layout of this node is none for the plugin's strategy single ({product}): all cards must be "
            "cut alike. The plugin does not run on it, and what the node still offers is left over. Cut them "
            "alike or set the strategy to mixed.",
            product=said.product,
        )
    wanted = labels.get(MIG_CONFIG, "")
    cut = wanted.startswith("all-") and wanted != "all-disabled" and labels.get(MIG_STATE) == "success"
    if cut and whole_offered and not said.mig and not said.slice_profile:
        return sentence(
            "The cards of this node are in MIG mode ({mig_config}={wanted}), but the device plugin gives them "
            "out as whole: its MIG strategy is none. Pods that get one may fail. Set the strategy to single or "
            "mixed or the layout to all-disabled.",
            mig_config=MIG_CONFIG,
            wanted=wanted[:60],
        )
    return None
