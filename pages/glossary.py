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
        _("One GPU as you would point at it. A slice of a card that is given out by itself is a card of its own."),
        "numbers",
    ),
    "slice": Word(
        _("slice"),
        _("A part of a card with its own memory that is given out by itself, such as a MIG instance."),
        "numbers",
    ),
    "capacity": Word(
        _("capacity"),
        _(
            "What the sharing system gives out of a card or node. It may be less than the chip has, since units are whole."
        ),
        "numbers",
    ),
    "allocatable": Word(
        _("allocatable"),
        _("What a node says that pods may have of it: its capacity less what is unhealthy or reserved."),
        "numbers",
    ),
    "allocated": Word(_("allocated"), _("Promised to pods by the scheduler, whether they use it or not."), "numbers"),
    "used": Word(
        _("used"), _("Measured on the card by an exporter. Where nobody measures it is not known, never 0."), "usage"
    ),
    "free": Word(
        _("free"),
        _("What can be given out less what is allocated. Negative: more is promised than there is."),
        "numbers",
    ),
    "unused": Word(
        _("unused"), _("Allocated and not used: what could be given to others if its holder asked for less."), "usage"
    ),
    "gap": Word(
        _("largest free block"),
        _(
            "The most free memory on one card of the node. A pod that asks for more does not fit, however much is free in all."
        ),
        "find-room",
    ),
    "holder": Word(
        _("holder"), _("A container that holds a card, or a part of one, from its start to its end."), "numbers"
    ),
    "evidence": Word(
        _("card known by"),
        _(
            "Where it is known from which card a container holds: a claim, an annotation, the kubelet, an exporter; or by count only."
        ),
        "numbers",
    ),
    "not-known": Word(
        _("not known"),
        _("Nothing in the cluster says it. It is never shown as 0, and never left out of a sum in silence."),
        "numbers",
    ),
    "not-metered": Word(
        _("not metered"),
        _("No memory is set aside: any of the holders of a shared card may take any amount."),
        "numbers",
    ),
    "health": Word(
        _("health"),
        _("The worst that anything says of the card or node. Nobody said anything is not reported, never healthy."),
        "health",
    ),
    "finding": Word(
        _("finding"),
        _("Something wrong that the mirror shows: there as long as its cause is, then kept as history."),
        "findings",
    ),
    "severity": Word(
        _("severity"),
        _("Error: something does not work or a number is wrong. Warning: it may become so. Info: good to know."),
        "findings",
    ),
    "mirror": Word(
        _("mirror"),
        _("What gpudash has read of a cluster. Pages show it with its age and never ask the cluster themselves."),
        "numbers",
    ),
    "idle": Word(_("idle"), _("Held, and no work was seen on the card for a while: it could be taken back."), "usage"),
    "sureness": Word(
        _("how sure"),
        _(
            "Sure: the sign of work covers the whole time. Likely: it is of moments, and short work may have been missed."
        ),
        "usage",
    ),
    "so-far": Word(_("so far"), _("What was held without work since then: GiB × hours, and cards × hours."), "usage"),
    "card-hours": Word(
        _("card hours"), _("Cards held × hours. Half a card for two hours is one card hour."), "chargeback"
    ),
    "suite": Word(
        _("suite"), _("A kind of test: what runs, how its log is read, and what its pass proves."), "validations"
    ),
    "run": Word(_("run"), _("One execution of a suite on one card or node."), "validations"),
    "verdict": Word(
        _("verdict"),
        _(
            "Failed: hardware, driver or adapter said no. Errored: the test could not be carried out, which says nothing of the card."
        ),
        "verdicts",
    ),
    "proven": Word(
        _("proven good"),
        _(
            "Work ran on the card and its result was checked. That the driver answers, or that something ran, proves less."
        ),
        "validations",
    ),
    "campaign": Word(_("campaign"), _("One suite on many cards, some at a time."), "validations"),
}
