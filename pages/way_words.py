"""Words of the ways in which sharing systems are asked for cards, for translation: what declares them knows no languages.

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
        "The Kubernetes scheduler counts: the node must have as many free devices as are asked for. The device "
        "plugin then gives any card that it calls healthy, always as a whole; memory cannot be asked for, so all "
        "cards that it may give must be large enough."
    ),
    _(
        "A card is offered several times, and memory is not metered: it can be asked for without an amount of "
        "memory only, and one share at a time, since several shares may be of one card."
    ),
    _(
        "A ResourceClaim for so many devices gets such as no other claim has and as are not tainted: whole cards "
        "here, else parts of cards that are free. The selectors of the claim and of its DeviceClass are not "
        "evaluated here: they must choose these devices."
    ),
    _(
        "One card must hold all that is asked for: the scheduler extender takes the card with the least free "
        "memory that is still enough, the lowest number first. On nodes of ACK (label ack.node.gpu.schedule) the "
        "pod's label aliyun.com/gpu-count divides a request equally over so many cards. A pod that is being "
        "deleted is counted here until it is gone, by the extender no more."
    ),
    _("Cards are asked for by count and given as a whole; the scheduler chooses which."),
    _(
        "Each card is another one, with so much memory of it: a card takes the pod that is healthy and not "
        "cordoned, has a slot and the memory left, and not all of its cores held. Without an amount of memory all "
        "of a card is asked for. HAMi fills nodes one after the other (binpack) and the cards of a node evenly "
        "(spread); annotations of the pod change both, and choose types and cards."
    ),
    _(
        "The Kubernetes scheduler counts: the node must have as many free slices of one profile as are asked for. "
        "The smallest profile with enough memory is taken; slices that a card could be cut into anew are not "
        "counted."
    ),
    _(
        "A share is one of several of the same card. Several shares may be of one card, so one card is all that "
        "can be asked for. Under MPS each share has an equal part of the memory; under time-slicing memory is not "
        "metered, so none can be asked for."
    ),
    _(
        "Each virtual GPU is on another card, with so much memory of it: a card takes it that is healthy, has a "
        "slot and the memory left, and not all of its cores held. Pods must name Volcano as their scheduler."
    ),
)
