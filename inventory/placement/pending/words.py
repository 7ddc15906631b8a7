"""What is told of a pending pod, as sentences: what nodes lack, what is probably a mistake, what its claims keep it from. Pure."""

from __future__ import annotations

from inventory.placement.pending import closest, mistakes
from inventory.placement.pending.closest import Lack
from inventory.placement.pending.mistakes import Mistake
from inventory.queries.claimed import Claimed
from wording.amounts import count, gib
from wording.said import Said, sentence


def lack_text(lack: Lack) -> Said:
    """What a node lacks, as a fragment."""
    what = lack.what
    if lack.code == closest.BLOCK:
        return sentence(
            "largest free block {there}, requested {wanted}", there=gib(lack.there), wanted=gib(lack.wanted)
        )
    if lack.code == closest.TOO_SMALL:
        return sentence("largest card {there}, requested {wanted}", there=gib(lack.there), wanted=gib(lack.wanted))
    if lack.code == closest.SHORT:
        return sentence(
            "{missing} of {wanted} {what}", missing=count(lack.missing), wanted=count(lack.wanted), what=what
        )
    if lack.code == closest.NOT_OFFERED or (lack.code == closest.TOO_FEW and lack.there <= 0):
        return sentence("no {what} on this node", what=what)
    if lack.code == closest.TOO_FEW:
        return sentence(
            "has only {there} of {wanted} {what}", there=count(lack.there), wanted=count(lack.wanted), what=what
        )
    if lack.code == closest.TAINT:
        return sentence("taint {what}", what=what)
    if lack.code == closest.UNKNOWN:
        return sentence("free memory unknown")
    return sentence("cordoned") if lack.code == closest.CORDONED else sentence("not ready")


def mistake_text(one: Mistake) -> Said:
    resource, wanted, most = one.resource, count(one.wanted), gib(one.most)
    if one.code == mistakes.MIB_MEANT:
        return sentence(
            "{resource}: the unit is GiB here, so {wanted} means {wanted} GiB. Use GiB if MiB was intended. "
            "The largest card of this stack has {most}.",
            resource=resource,
            wanted=wanted,
            most=most,
        )
    if one.code == mistakes.GIB_MEANT:
        return sentence(
            "{resource}: the unit is MiB here, so {wanted} means {wanted} MiB. Use MiB if GiB was intended.",
            resource=resource,
            wanted=wanted,
        )
    if one.code == mistakes.LARGER_THAN_ANY:
        return sentence("No card has {wanted}. Largest: {most}.", wanted=gib(one.wanted), most=most)
    if one.code == mistakes.MORE_THAN_ANY:
        return sentence(
            "No node has {wanted} × {resource}. Most: {most}.", wanted=wanted, resource=resource, most=count(one.most)
        )
    if one.code == mistakes.NOT_TOGETHER:
        return sentence(
            "No node offers both {resource} and {other}. They belong to different stacks.",
            resource=resource,
            other=one.other,
        )
    if one.other:
        return sentence(
            "No node of the cluster offers {resource}. A similar resource is {other}.",
            resource=resource,
            other=one.other,
        )
    return sentence(
        "No node of the cluster offers {resource}. Check the name and whether its device plugin runs.",
        resource=resource,
    )


def claim_text(one: Claimed) -> Said | None:
    """What a claim keeps its pod from; None for nothing that is known."""
    if one.state == "not-made":
        return sentence(
            "No claim created from the template {template} yet. Run `kubectl describe pod` and check for "
            "`FailedResourceClaimCreation`.",
            template=one.template or "?",
        )
    if one.state == "not-seen":
        return sentence(
            "The claim {claim} is not synced: it does not exist, requests no accelerator, or read access is denied.",
            claim=one.claim,
        )
    if one.state == "deleting":
        return sentence("The claim {claim} is being deleted. New pods cannot use it.", claim=one.claim)
    if one.state == "allocated" and one.node:
        return sentence(
            "The claim {claim} is allocated on {node}. The pod can run only there.", claim=one.claim, node=one.node
        )
    return None
