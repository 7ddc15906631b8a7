"""Titles of the findings for translation: the catalogue itself is pure and knows no languages. A test holds the two together."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TITLES = (
    _("Annotation cannot be read"),
    _("Assumed and never assigned"),
    _("Bound pod without a card"),
    _("Capacity differs from allocatable"),
    _("Card index out of range"),
    _("Card over-committed"),
    _("Card promised twice"),
    _("Device plugin not ready"),
    _("GPU label without a GPU resource"),
    _("GPU memory without cards"),
    _("Labels disagree with the capacity"),
    _("Memory unit unknown"),
    _("Memory units mixed"),
    _("NVIDIA_VISIBLE_DEVICES set by hand"),
    _("Quantity cannot be read"),
    _("Request and record differ"),
    _("Resource not understood"),
    _("Setting on the node cannot be read"),
    _("Several GPU containers in one pod"),
    _("Two sharing systems on the same cards"),
)
