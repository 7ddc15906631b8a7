"""What HAMi's scheduler says of nodes that do not take a pod, and the unit of its memory.

The scheduler's message has one word for a node; the words for cards stand in HAMi's own events, or in the message where it is asked
for details: "2/8 CardInsufficientMemory".
Source: Project-HAMi/HAMi, pkg/device/common/common.go and pkg/scheduler (score.go, scheduler.go).
"""

from __future__ import annotations

from inventory.stacks.engine.base import Context
from inventory.stacks.engine.labels import MIB
from inventory.stacks.engine.stack import Refusal
from inventory.stacks.hami.pods import GPU_MEMORY

#: Of the cards of a node: "2/8 ".
_OF_CARDS = r"(?:\d{1,5}/\d{1,5} )?"

REFUSALS = (
    Refusal(
        _OF_CARDS + "NodeUnfitPod",
        "No card of these nodes has what one container asks for: memory, cores or a place.",
        "Look at the events of the pod (FilteringFailed): they say which of these is missing on which node.",
    ),
    Refusal(
        "node unregistered",
        "These nodes have registered no cards with this scheduler.",
        "Look whether the device plugin runs there and has written its register. Nodes without such cards are meant to be here.",
    ),
    Refusal(
        _OF_CARDS + "CardInsufficientMemory",
        "No single card of these nodes has that much memory free.",
        "Ask for less memory per card, or wait until a holder of one card ends.",
    ),
    Refusal(
        _OF_CARDS + "CardInsufficientCore",
        "No single card of these nodes has that share of its cores free.",
        "Ask for a smaller share of cores, or wait until a holder of one card ends.",
    ),
    Refusal(
        _OF_CARDS + "(?:CardTimeSlicingExhausted|CardComputeUnitsExhausted)",
        "The cards of these nodes have as many holders as they admit.",
        "Wait until a holder ends, or let more pods share a card (the plugin's split count).",
    ),
    Refusal(
        _OF_CARDS + "(?:CardTypeMismatch|CardUuidMismatch|CardNotFoundCustomFilterRule)",
        "The cards of these nodes are not of the kind, or not those, that annotations of the pod ask for.",
        "Compare the pod's annotations for the type and the UUID of cards with the cards of the node.",
    ),
    Refusal(
        _OF_CARDS + "CardNotHealth",
        "Cards of these nodes are not healthy.",
        "Look at the health of the cards on the pages of these nodes.",
    ),
    Refusal(
        _OF_CARDS + "(?:NodeInsufficientDevice|AllocatedCardsInsufficientRequest)",
        "These nodes have fewer cards, or fewer that fit, than one container asks for.",
        "Ask for fewer cards, or choose nodes with more.",
    ),
    Refusal(
        _OF_CARDS + "ExclusiveDeviceAllocateConflict",
        "A card is wanted for one pod alone, and the cards of these nodes are shared already.",
        "Wait until a card has no holder, or ask for less than all cores of a card.",
    ),
    Refusal(
        _OF_CARDS + "NumaNotFit",
        "The cards that fit are not of one NUMA node, which the pod asks for.",
        "Take the annotation that binds the cards to one NUMA node away, or wait.",
    ),
    Refusal(
        _OF_CARDS + "ResourceQuotaNotFit",
        "The quota of the namespace leaves too little memory or cores of cards.",
        "Look at kubectl describe resourcequota of the namespace; ask for less or for a larger quota.",
    ),
)


def memory_of(resource: str, unit: str, context: Context) -> int | None:
    """Bytes of one unit of memory of NVIDIA's cards, which is asked for by card; None for other resources."""
    return MIB if resource == GPU_MEMORY else None
