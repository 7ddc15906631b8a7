"""Words of what was dropped of exporters' pages, for translation; what declares them is pure and knows no languages.

A test holds the two together.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

DOUBTS = (
    _("What came is no answer of Prometheus."),
    _("The answer has more series or labels than are read at once; ask for fewer."),
    _("A series of the answer cannot be read."),
    _("What came is no page of the exporter that its pod is labelled as."),
    _("A line of the page cannot be read."),
    _("What stands where the value should be is no number."),
    _("A line of the page is longer than any that an exporter writes."),
    _("A label has a longer value than is read."),
    _("A series has more labels than are read."),
    _("The page has more samples than are read; the rest was left out."),
    _("A line of the page is not UTF-8."),
    _("The page ends in the middle: its last line was left out, and more may be missing."),
    _("The time of a sample lies ahead of the clock, or is no time."),
    _("A sample names no card, or names it only within a node that is not known."),
    _("There are more cards than are read; the rest was left out."),
    _("The exporter says NaN or infinity."),
    _("The exporter says a number that stands for: not known, not supported, or failed."),
    _("The value is outside of what any card can have."),
    _("More memory is said to be used than the card has."),
    _("The name has two units in different versions of the exporter, and nothing says which version it is."),
    _("Two rows of one card, of the same moment, say different things. The higher value was taken."),
    _("No label of the card's rows is the name of a node that is known."),
    _("The rows of one card name two nodes."),
    _("Two exporters publish these names, and nothing says which of them it is."),
    _("The exporter says that its last collection failed; its figures may be old."),
    _("The exporter says that several pods hold the card, and not which."),
    _("Rows of pods carry figures that are not proved to be the pods' own; they were taken for the card's."),
    _("A row of an older moment names another pod: it was taken for one that is gone."),
    _("The pod of a row is an exporter, a reservation or a validation: it is not shown as a holder."),
    _("A card has more holders, processes, error codes or watches than are kept."),
    _("The memory of a card's parts is not summed, since one part does not say it."),
)
