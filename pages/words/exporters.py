"""Words of what was dropped of exporters' pages, for translation; what declares them is pure and knows no languages.

A test holds the two together.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

DOUBTS = (
    _("The response is not from Prometheus."),
    _("The response has too many series or labels. Add matchers to select fewer."),
    _("Invalid series in the response."),
    _("The metrics page does not belong to the exporter that the pod labels name."),
    _("Invalid line on the metrics page."),
    _("The value is not a number."),
    _("A line of the metrics page is too long."),
    _("A label value is too long."),
    _("A series has too many labels."),
    _("The metrics page has too many samples. The rest is ignored."),
    _("A line of the metrics page is not UTF-8."),
    _("The metrics page is truncated. Its last line is ignored, and more lines may be missing."),
    _("A sample has an invalid time or a time in the future."),
    _("A sample has no card label, or its node is unknown."),
    _("Too many cards. The rest is ignored."),
    _("The exporter reports NaN or infinity."),
    _("The exporter reports a code for unknown, not supported or failed instead of a value."),
    _("The value is out of range for any card."),
    _("The used memory exceeds the memory of the card."),
    _("The unit of the metric differs between exporter versions, and the version is unknown."),
    _("Two series of one card have different values at the same time. The higher value is used."),
    _("No label of the card is the name of a known node."),
    _("The series of one card name two nodes."),
    _("Two exporters publish these metric names. The exporter is unknown."),
    _("The exporter reports that its last collection failed. Its values may be stale."),
    _("The exporter reports several pods on the card without their names."),
    _("Values with pod labels may belong to the whole card. They are used as values of the card."),
    _("An older sample names another pod. That pod is treated as deleted."),
    _("The pod is an exporter, a reservation or a validation. It is not shown as an allocation."),
    _("A card has too many pods, processes, error codes or health checks. The rest is ignored."),
    _("The memory of the slices is not added up: one slice does not report it."),
)
