"""What the account that marks nodes may have to do, for `gpudash cluster check`. deploy/quarantine-role.yaml grants the same.

All is optional: without it gpudash recommends, and prints what a person can run.
"""

from __future__ import annotations

from inventory.wanted import QUARANTINE, Wanted
from kube.claims import GROUP
from quarantine import sentinel
from wording.said import sentence

ROLE = "deploy/quarantine-role.yaml"
NODES = sentence("takes nodes out of service")
CARDS = sentence("takes single cards out of service (DRA)")
REQUESTS = sentence("creates NVSentinel MaintenanceRequests")
RULES = "devicetaintrules"


def wanted() -> tuple[Wanted, ...]:
    needed = (
        *((verb, "", "nodes", NODES) for verb in ("get", "patch")),
        *((verb, GROUP, RULES, CARDS) for verb in ("get", "list", "create", "patch", "delete")),
        ("list", GROUP, "resourceslices", CARDS),
        *((verb, sentinel.GROUP, sentinel.RESOURCE, REQUESTS) for verb in ("get", "create", "delete")),
    )
    return tuple(
        Wanted(verb, group, resource, why, True, role=ROLE, account=QUARANTINE) for verb, group, resource, why in needed
    )
