"""What is wrong with pools, devices and claims of one node."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from stacks.dra.cards import Cards
from stacks.dra.holders import Held
from stacks.dra.pools import Offered, Pools
from stacks.engine.base import ERROR, INFO, WARNING, Context, Finding
from stacks.engine.stack import Entry
from wording.said import gettext_noop, sentence

#: A claim that is being deleted for longer keeps its devices from everybody.
TERMINATING_S = 600.0
#: Devices of one node that are read: 128 ResourceSlices with as many as the API allows in one. It allows any number of slices.
MOST_DEVICES = 128 * 128

FINDINGS = {
    "dra-pool-incomplete": Entry(
        gettext_noop("Device pool incomplete"),
        WARNING,
        gettext_noop(
            "ResourceSlices of a pool are missing. The scheduler allocates no devices from an incomplete pool. gpudash "
            "does not count them."
        ),
        gettext_noop("Check the log of the DRA driver pod on the node. The driver publishes the slices."),
    ),
    "dra-device-gone": Entry(
        gettext_noop("Allocated device no longer exists"),
        ERROR,
        gettext_noop(
            "A ResourceClaim has a device that no driver offers any more. Its pod may still run on the device or may have lost it."
        ),
        gettext_noop("Check the driver log and the card. If the card was removed, delete the pod and its claim."),
    ),
    "dra-claim-idle": Entry(
        gettext_noop("Unused ResourceClaim"),
        INFO,
        gettext_noop("A device is allocated to a ResourceClaim that no pod uses. Other claims cannot get the device."),
        gettext_noop("Delete the claim, or start the pod that needs it."),
    ),
    "dra-claim-terminating": Entry(
        gettext_noop("ResourceClaim stuck in deletion"),
        WARNING,
        gettext_noop("A deleted ResourceClaim still has its device. A finalizer is waiting for the driver or the pod."),
        gettext_noop(
            "Check that the pod is deleted and that the driver pod runs on the node. The driver has to release the device."
        ),
    ),
    "dra-too-many-devices": Entry(
        gettext_noop("Too many devices on the node"),
        WARNING,
        gettext_noop(
            "DRA drivers offer more devices on this node than gpudash reads. The cards of the node are unknown."
        ),
        gettext_noop("Check the ResourceSlices of the node and the drivers that publish them."),
    ),
    "device-tainted": Entry(
        gettext_noop("Device tainted"),
        WARNING,
        gettext_noop("The driver or an administrator tainted the device. New claims do not get it."),
        gettext_noop("Read the taint. It names the reason, often the health of the card."),
    ),
}


def findings(
    node: str, held: list[Held], offered: Pools, here: list[Offered], cards: Cards, context: Context
) -> tuple[list[Finding], float | None]:
    """(findings, unix seconds at which they would be others)."""
    now = context.now
    found = [_incomplete(*one) for one in offered.incomplete]
    found += [_too_many(len(here))] if len(here) > MOST_DEVICES else []
    found += [_tainted(device, cards) for device in here if device.taints and device.key in cards.on]
    unread = {one[:2] for one in offered.incomplete}
    lost = [item for item in held if item.device is None and item.key[:2] not in unread]
    # Where slices are not read, none of their devices is known: that says nothing of the driver.
    found += [_gone(item) if context.claims_read else _unread(item) for item in lost]
    claims = {item.claim.metadata.uid: item for item in held}.values()
    found += [_idle(item, cards) for item in claims if not (item.claim.status and item.claim.status.reservedFor)]
    ends = [(item, since) for item in claims if (since := _seconds(item.claim.metadata.deletionTimestamp)) is not None]
    found += [_terminating(item, cards) for item, since in ends if now - since > TERMINATING_S]
    return list(dict.fromkeys(found)), _next(since + TERMINATING_S for _, since in ends if now - since <= TERMINATING_S)


def _next(moments: Iterable[float]) -> float | None:
    return min(moments, default=None)


def _seconds(stamp: str | None) -> float | None:
    try:
        moment = datetime.fromisoformat(stamp) if stamp else None
    except ValueError:
        return None
    return None if moment is None else (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _name(item: Held) -> str:
    return f"{item.claim.metadata.namespace}/{item.claim.metadata.name}"


def _incomplete(driver: str, pool: str, there: int, wanted: int) -> Finding:
    text = sentence(
        "The driver {driver} published {there} of {wanted} ResourceSlices of the pool {pool}. Its devices are not "
        "allocated or counted.",
        driver=driver,
        there=there,
        wanted=wanted,
        pool=pool,
    )
    return Finding(code="dra-pool-incomplete", severity=WARNING, text=text)


def _too_many(number: int) -> Finding:
    text = sentence(
        "DRA drivers offer {number} devices on this node. gpudash reads at most {most}. The cards of the node are unknown.",
        number=number,
        most=MOST_DEVICES,
    )
    return Finding(code="dra-too-many-devices", severity=WARNING, text=text)


def _unread(item: Held) -> Finding:
    text = sentence(
        "The claim {claim} has the device {device} of the driver {driver}. gpudash is not allowed to read "
        "resourceslices, so card and memory are unknown.",
        claim=_name(item),
        device=item.key[2],
        driver=item.key[0],
    )
    return Finding(code="resource-not-understood", severity=INFO, text=text, pod=_name(item))


def _tainted(device: Offered, cards: Cards) -> Finding:
    taints = ", ".join(f"{key}:{effect}" for key, effect in device.taints)
    text = sentence(
        "The device {device} of the driver {driver} is tainted ({taints}). New claims do not get it.",
        device=device.key[2],
        driver=device.key[0],
        taints=taints,
    )
    return Finding(code="device-tainted", severity=WARNING, text=text, card=cards.on[device.key])


def _gone(item: Held) -> Finding:
    driver, pool, device = item.key
    text = sentence(
        "The claim {claim} has the device {device} of the pool {pool}. The driver {driver} no longer offers it.",
        claim=_name(item),
        device=device,
        pool=pool,
        driver=driver,
    )
    return Finding(code="dra-device-gone", severity=ERROR, text=text, pod=_name(item))


def _idle(item: Held, cards: Cards) -> Finding:
    text = sentence(
        "The device {device} is allocated to the claim {claim}, but no pod uses the claim. Delete the claim to free the device.",
        claim=_name(item),
        device=item.key[2],
    )
    return Finding(code="dra-claim-idle", severity=INFO, text=text, card=cards.on.get(item.key), pod=_name(item))


def _terminating(item: Held, cards: Cards) -> Finding:
    since = item.claim.metadata.deletionTimestamp
    text = sentence(
        "The claim {claim} was deleted at {since} but still has the device {device}.",
        claim=_name(item),
        since=since,
        device=item.key[2],
    )
    return Finding(
        code="dra-claim-terminating", severity=WARNING, text=text, card=cards.on.get(item.key), pod=_name(item)
    )
