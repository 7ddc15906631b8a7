"""What is wrong with pools, devices and claims of one node."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from inventory.stacks.dra.cards import Cards
from inventory.stacks.dra.holders import Held
from inventory.stacks.dra.pools import Offered, Pools
from inventory.stacks.engine.base import ERROR, INFO, WARNING, Context, Finding
from inventory.stacks.engine.stack import Entry
from wording.said import sentence

#: A claim that is being deleted for longer keeps its devices from everybody.
TERMINATING_S = 600.0
#: Devices of one node that are read: 128 ResourceSlices with as many as the API allows in one. It allows any number of slices.
MOST_DEVICES = 128 * 128

FINDINGS = {
    "dra-pool-incomplete": Entry(
        "Pool of devices incomplete",
        WARNING,
        "Not all ResourceSlices of a pool are there. The scheduler gives out nothing of such a pool, so its devices are not counted.",
        "Look at the log of the DRA driver's pod on the node; it publishes the slices.",
    ),
    "dra-device-gone": Entry(
        "Claimed device gone",
        ERROR,
        "A claim holds a device that no driver offers any more. Its pod may work on with it, or have lost its card.",
        "Look at the driver's log and at the card; delete the pod and its claim when the card is gone.",
    ),
    "dra-claim-idle": Entry(
        "Claim that nobody uses",
        INFO,
        "A claim holds a device and no pod uses the claim. The device is not free for others.",
        "Delete the claim, or start the pod that is to use it.",
    ),
    "dra-claim-terminating": Entry(
        "Claim does not end",
        WARNING,
        "A claim that was deleted still holds its device, since a finalizer waits for the driver or the pod.",
        "Look whether its pod is gone and the driver's pod runs on the node; it has to let go of the device.",
    ),
    "dra-too-many-devices": Entry(
        "Too many devices",
        WARNING,
        "DRA drivers offer more devices on one node than gpudash reads, so its cards are not known.",
        "Look at the ResourceSlices of the node, and which driver has published them.",
    ),
    "device-tainted": Entry(
        "Device tainted",
        WARNING,
        "The driver, or an administrator, has put a taint on the device: new claims do not get it.",
        "Read the taint: it names what is wrong, often the health of the card.",
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
        "The driver {driver} has published {there} of {wanted} slices of the pool {pool}: none of its "
        "devices is given out or counted.",
        driver=driver,
        there=there,
        wanted=wanted,
        pool=pool,
    )
    return Finding(code="dra-pool-incomplete", severity=WARNING, text=text)


def _too_many(number: int) -> Finding:
    text = sentence(
        "DRA drivers offer {number} devices on this node, and at most {most} are read: its cards are not known.",
        number=number,
        most=MOST_DEVICES,
    )
    return Finding(code="dra-too-many-devices", severity=WARNING, text=text)


def _unread(item: Held) -> Finding:
    text = sentence(
        "The claim {claim} holds the device {device} of the driver {driver}. The cluster does not let resourceslices be "
        "read, so which card this is and how much memory it has is not known.",
        claim=_name(item),
        device=item.key[2],
        driver=item.key[0],
    )
    return Finding(code="resource-not-understood", severity=INFO, text=text, pod=_name(item))


def _tainted(device: Offered, cards: Cards) -> Finding:
    taints = ", ".join(f"{key}:{effect}" for key, effect in device.taints)
    text = sentence(
        "The device {device} of the driver {driver} is tainted ({taints}): new claims do not get it.",
        device=device.key[2],
        driver=device.key[0],
        taints=taints,
    )
    return Finding(code="device-tainted", severity=WARNING, text=text, card=cards.on[device.key])


def _gone(item: Held) -> Finding:
    driver, pool, device = item.key
    text = sentence(
        "The claim {claim} holds the device {device} of the pool {pool}, which the driver {driver} does not "
        "offer any more.",
        claim=_name(item),
        device=device,
        pool=pool,
        driver=driver,
    )
    return Finding(code="dra-device-gone", severity=ERROR, text=text, pod=_name(item))


def _idle(item: Held, cards: Cards) -> Finding:
    text = sentence(
        "The claim {claim} holds the device {device}, and no pod uses it. Delete the claim to have it back.",
        claim=_name(item),
        device=item.key[2],
    )
    return Finding(code="dra-claim-idle", severity=INFO, text=text, card=cards.on.get(item.key), pod=_name(item))


def _terminating(item: Held, cards: Cards) -> Finding:
    since = item.claim.metadata.deletionTimestamp
    text = sentence(
        "The claim {claim} was deleted at {since} and still holds the device {device}.",
        claim=_name(item),
        since=since,
        device=item.key[2],
    )
    return Finding(
        code="dra-claim-terminating", severity=WARNING, text=text, card=cards.on.get(item.key), pod=_name(item)
    )
