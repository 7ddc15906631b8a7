"""Words of the ways in which stacks are asked for cards, for translation: what declares them knows no languages.

A test holds the two together.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

LABELS = (
    _("AMD device plugin"),
    _("Ascend device plugin, whole chips"),
    _("AWS Neuron device plugin, chips"),
    _("Cambricon device plugin, whole cards"),
    _("Alibaba Cloud DirectX"),
    _("Microsoft DirectX"),
    _("TensorWorks DirectX"),
    _("Resource claims (DRA)"),
    _("Enflame device plugin, whole cards"),
    _("gpushare, memory"),
    _("gpushare, whole cards"),
    _("HAMi"),
    _("Intel GPU device plugin, whole cards"),
    _("Intel GPU device plugin, shares of a card"),
    _("Alpha GPU resource, whole cards"),
    _("Kunlun device plugin"),
    _("MetaX GPU extensions, whole cards"),
    _("Moore Threads GPU operator, whole cards"),
    _("NVIDIA device plugin, whole cards"),
    _("NVIDIA device plugin, MIG slices"),
    _("NVIDIA device plugin, shares of a card"),
    _("Other accelerators, whole cards"),
    _("Other accelerators, shares of a card"),
    _("Volcano, virtual GPUs"),
)

RULES = (
    _(
        "The Kubernetes scheduler counts devices: the node needs as many free devices as requested. The device "
        "plugin allocates any healthy card, always as a whole card. Memory cannot be requested, so every card of the "
        "node must be large enough."
    ),
    _(
        "Each card is offered several times, and memory is not metered. Request one share at a time and no amount of "
        "memory, because several shares may be on the same card."
    ),
    _(
        "A ResourceClaim gets devices that no other claim has and that are not tainted: whole cards, or free slices "
        "of cards. gpudash does not evaluate the selectors of the claim and its DeviceClass: they must match these "
        "devices."
    ),
    _(
        "One card must have all of the requested memory. The scheduler extender picks the card with the least free "
        "memory that is enough, lowest number first. On ACK nodes (label ack.node.gpu.schedule) the pod label "
        "aliyun.com/gpu-count splits a request equally over that many cards. gpudash counts a terminating pod until "
        "it is deleted, the extender does not."
    ),
    _("Pods request a number of whole cards. The scheduler chooses the cards."),
    _(
        "Each requested card is a different card with the requested memory. A card fits if it is healthy, not "
        "cordoned, has a free slot, enough memory, and free cores. Without an amount of memory, all memory of the "
        "card is requested. HAMi fills nodes one by one (binpack) and spreads pods over the cards of a node "
        "(spread). Annotations of the pod change both, and select card types and cards."
    ),
    _(
        "The Kubernetes scheduler counts slices: the node needs as many free slices of one profile as requested. "
        "gpudash picks the smallest profile with enough memory. Slices that a new MIG layout could create do not "
        "count."
    ),
    _(
        "A share is one of several on the same card. Several shares may be on one card, so request only one. With "
        "MPS each share has an equal part of the memory. With time-slicing memory is not metered and cannot be "
        "requested."
    ),
    _(
        "Each virtual GPU is on a different card with the requested memory. A card fits if it is healthy, has a free "
        "slot, enough memory, and free cores. Pods must use Volcano as their scheduler."
    ),
)
