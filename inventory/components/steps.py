"""Steps of driver upgrades and of MIG changes, as the labels of nodes have them: which wait, which are over, which have failed."""

from __future__ import annotations

#: Components whose step is that of a driver upgrade; of others on the node it is only why they are paused.
DRIVERS = frozenset(("driver", "amd-driver"))
MIG = frozenset(("mig-manager",))

WAIT = frozenset(("upgrade-required", "Upgrade-Not-Started"))
OVER = frozenset(("", "upgrade-done", "success", "Install-Complete", "Upgrade-Complete"))
FAILED = frozenset(
    (
        *("upgrade-failed", "failed"),
        *("Upgrade-Failed", "Upgrade-Timed-Out", "Cordon-Failed", "Uncordon-Failed", "Drain-Failed", "Reboot-Failed"),
    )
)
PENDING = "pending"
#: Where another operator prepares the nodes (requestor mode), it decides how many go at once.
MAINTENANCE = frozenset(("node-maintenance-required", "post-maintenance-required"))
#: How they follow each other. Others come before the last two, in their order.
_ORDER = (
    "upgrade-required",
    "node-maintenance-required",
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "drain-required",
    "post-maintenance-required",
    "pod-restart-required",
    "validation-required",
    "uncordon-required",
)
#: The operator's own, where its policy says nothing.
MAX_PARALLEL, MAX_UNAVAILABLE = 1, "25%"


def place(step: str) -> tuple[int, str]:
    """Where a step stands among others: what failed first, then what goes on, then what waits, what is over last."""
    if step in FAILED:
        return (0, step)
    if step in WAIT:
        return (100, step)
    if step in OVER:
        return (101, step)
    return (1 + _ORDER.index(step) if step in _ORDER else 50, step)


def under_way(step: str) -> bool:
    return step not in OVER


def takes_slot(step: str) -> bool:
    """Whether the operator counts the node as being upgraded: one that has failed, too."""
    return step not in OVER and step not in WAIT
