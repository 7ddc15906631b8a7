"""The words of the pages, each with what it means here and the document that says more.

`{% term "free" %}` and `{% term_help "free" %}` explain one where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Word:
    """title: as it is written on pages. doc: name of a document (`pages.docs`)."""

    title: str | Promise
    text: str | Promise
    doc: str


WORDS: dict[str, Word] = {
    "card": Word(
        _("card"),
        _(
            "One GPU or other accelerator. A slice that is allocated separately, such as a MIG instance, counts as a card."
        ),
        "numbers",
    ),
    "slice": Word(
        _("slice"),
        _("A part of a card with its own memory, such as a MIG instance."),
        "numbers",
    ),
    "capacity": Word(
        _("capacity"),
        _(
            "Memory or cards that the stack can allocate. Rounding to whole units can make it less than the physical memory."
        ),
        "numbers",
    ),
    "allocatable": Word(
        _("allocatable"),
        _("What the node reports as available to pods: capacity minus unhealthy or reserved resources."),
        "numbers",
    ),
    "allocated": Word(_("allocated"), _("What the scheduler gave to pods, used or not."), "numbers"),
    "used": Word(
        _("used"), _("Measured on the card by an exporter. Without an exporter: not collected, never 0."), "usage"
    ),
    "free": Word(
        _("free"),
        _("What pods can be allocated now. Excludes unavailable cards. Negative: overcommitted."),
        "numbers",
    ),
    "unused": Word(
        _("allocated, not used"),
        _("Allocated memory that is not used. Pods with smaller requests would free it."),
        "usage",
    ),
    "gap": Word(
        _("largest free block"),
        _("The most free memory on one card of the node. A larger request does not fit, whatever the total."),
        "find-room",
    ),
    "holder": Word(_("allocation"), _("A card or a part of it, given to one container by the scheduler."), "numbers"),
    "evidence": Word(
        _("identified by"),
        _("Source that identifies the card: ResourceClaim, kubelet, annotation or exporter. Count only: unidentified."),
        "numbers",
    ),
    "not-known": Word(
        _("unknown"),
        _("No source has it. It is never shown as 0. Sums state what they exclude."),
        "numbers",
    ),
    "not-metered": Word(
        _("not metered"),
        _("The stack does not limit memory. Any pod on the shared card can use any amount."),
        "numbers",
    ),
    "health": Word(
        _("health"),
        _("Worst status from all sources. Unknown if no source reports; never assumed healthy."),
        "health",
    ),
    "finding": Word(
        _("finding"),
        _("A problem in the synced data. It is active as long as its cause exists, then kept as history."),
        "reference/findings",
    ),
    "severity": Word(
        _("severity"),
        _(
            "Error: a workload will fail or a number is wrong. Warning: likely to become an error, or data is missing. "
            "Info: no action needed."
        ),
        "reference/findings",
    ),
    "mirror": Word(
        _("synced data"),
        _("gpudash's copy of a cluster. Pages show it with its age and never query the cluster."),
        "numbers",
    ),
    "idle": Word(_("idle"), _("Allocated without GPU activity for a while. It could be reclaimed."), "usage"),
    "confidence": Word(
        _("confidence"),
        _("Certain: the metric covers the whole time. Likely: based on samples; short activity may be missed."),
        "usage",
    ),
    "so-far": Word(
        _("idle GiB h / card h"), _("Allocated without activity since then: GiB × hours and cards × hours."), "usage"
    ),
    "card-hours": Word(
        _("card hours"), _("Allocated cards × hours. Half a card for two hours is one card hour."), "chargeback"
    ),
    "component": Word(
        _("component"),
        _(
            "Software that a stack needs on a node or in a cluster: a driver, a device plugin, a scheduler extender. "
            "The first one that is not ready blocks those after it."
        ),
        "components",
    ),
    "suite": Word(
        _("suite"), _("A kind of test: what runs, how gpudash reads its log, and what a pass proves."), "validations"
    ),
    "run": Word(_("run"), _("One execution of a suite on one card or node."), "validations"),
    "verdict": Word(
        _("verdict"),
        _(
            "Failed: the hardware, driver or adapter reported a fault. "
            "Errored: the test did not complete, so the card's state stays unknown."
        ),
        "reference/verdicts",
    ),
    "validated": Word(
        _("validated"),
        _(
            "A run on the card passed and its result was checked. Detection, or a run with an unchecked result, is not enough."
        ),
        "validations",
    ),
    "policy": Word(
        _("policy"),
        _(
            "A rule that keeps cards validated: suite, cards, and how long a pass is valid. It starts runs on idle cards."
        ),
        "policies",
    ),
    "due": Word(
        _("due"), _("A policy covers the card, and no pass is valid: a run starts when limits allow."), "policies"
    ),
    "campaign": Word(_("campaign"), _("One suite on many cards, a few in parallel."), "validations"),
}
