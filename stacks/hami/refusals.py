"""What HAMi's scheduler says of nodes that do not take a pod, and the unit of its memory.

The scheduler's message has one word for a node; the words for cards stand in HAMi's own events, or in the message where it is asked
for details: "2/8 CardInsufficientMemory".
Source: Project-HAMi/HAMi, pkg/device/common/common.go and pkg/scheduler (score.go, scheduler.go).
"""

from __future__ import annotations

from stacks.engine.base import Context
from stacks.engine.labels import MIB
from stacks.engine.stack import Refusal
from stacks.hami.pods import GPU_MEMORY
from wording.said import gettext_noop

#: Of the cards of a node: "2/8 ".
_OF_CARDS = r"(?:\d{1,5}/\d{1,5} )?"

REFUSALS = (
    Refusal(
        _OF_CARDS + "NodeUnfitPod",
        gettext_noop("No card of these nodes has the requested memory, cores or slot."),
        gettext_noop("Check the events of the pod (FilteringFailed). They list what each node lacks."),
    ),
    Refusal(
        "node unregistered",
        gettext_noop("These nodes have registered no cards with this scheduler."),
        gettext_noop(
            "Check that the device plugin runs there and has registered the cards. For nodes without such cards this is normal."
        ),
    ),
    Refusal(
        _OF_CARDS + "CardInsufficientMemory",
        gettext_noop("No single card of these nodes has that much free memory."),
        gettext_noop("Request less memory per card, or wait until an allocation ends."),
    ),
    Refusal(
        _OF_CARDS + "CardInsufficientCore",
        gettext_noop("No single card of these nodes has that many free cores."),
        gettext_noop("Request fewer cores, or wait until an allocation ends."),
    ),
    Refusal(
        _OF_CARDS + "(?:CardTimeSlicingExhausted|CardComputeUnitsExhausted)",
        gettext_noop("All slots of the cards of these nodes are allocated."),
        gettext_noop("Wait until an allocation ends, or increase the split count of the device plugin."),
    ),
    Refusal(
        _OF_CARDS + "(?:CardTypeMismatch|CardUuidMismatch|CardNotFoundCustomFilterRule)",
        gettext_noop("The cards of these nodes do not match the card type or UUID in the annotations of the pod."),
        gettext_noop("Compare the card type and UUID in the annotations of the pod with the cards of the node."),
    ),
    Refusal(
        _OF_CARDS + "CardNotHealth",
        gettext_noop("Cards of these nodes are unhealthy."),
        gettext_noop("Check the health of the cards on the pages of these nodes."),
    ),
    Refusal(
        _OF_CARDS + "(?:NodeInsufficientDevice|AllocatedCardsInsufficientRequest)",
        gettext_noop("These nodes have fewer cards, or fewer fitting cards, than one container requests."),
        gettext_noop("Request fewer cards, or choose nodes with more cards."),
    ),
    Refusal(
        _OF_CARDS + "ExclusiveDeviceAllocateConflict",
        gettext_noop("The pod requests a card of its own, but all cards of these nodes are already shared."),
        gettext_noop("Wait until a card is free, or request less than all cores of a card."),
    ),
    Refusal(
        _OF_CARDS + "NumaNotFit",
        gettext_noop("The fitting cards are not on one NUMA node, as the pod requests."),
        gettext_noop("Remove the annotation that requires one NUMA node, or wait."),
    ),
    Refusal(
        _OF_CARDS + "ResourceQuotaNotFit",
        gettext_noop("The ResourceQuota of the namespace has too little card memory or cores left."),
        gettext_noop("Run `kubectl describe resourcequota` in the namespace. Request less, or request a larger quota."),
    ),
)


def memory_of(resource: str, unit: str, context: Context) -> int | None:
    """Bytes of one unit of memory of NVIDIA's cards, which is asked for by card; None for other resources."""
    return MIB if resource == GPU_MEMORY else None
