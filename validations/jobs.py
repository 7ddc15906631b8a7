"""The Job of a run, made of suite, place, options, id and moment: the same for a preview and for what is posted.

Which card it takes for certain, and what it runs, is said here too. Reads no table and no setting. What stands in a run's row is
never posted: whoever can write a row must not choose what runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from inventory.models import Card
from kube.images import Allowed
from validations.installation import INSTANCE_LABEL
from validations.maker import MAKER_LABEL
from validations.suites.engine.base import Run, Suite
from validations.suites.engine.group import as_group
from validations.targets import Place


def build(
    suite: Suite,
    place: Place,
    options: Mapping[str, object],
    run_id: str,
    moment: datetime,
    *,
    namespace: str,
    instance: str,
    maker: str,
    images: Allowed,
    hosts: Sequence[str] = (),
) -> dict[str, Any]:
    """The batch/v1 Job. moment: when it is posted. images: which of them have a digest that their tag stands for.
    hosts: of the nodes of a group, () for a run on one node.

    Raises OptionError, or ValueError when no resource of the place suits.
    """
    made = suite.manifest(place.target, options, Run(id=run_id, namespace=namespace, moment=moment))
    container = made["spec"]["template"]["spec"]["containers"][0]
    container["image"] = images.pinned(container["image"])
    label = {INSTANCE_LABEL: instance}
    made["metadata"]["labels"] |= label | {MAKER_LABEL: maker}
    made["spec"]["template"]["metadata"]["labels"] |= label
    return as_group(made, hosts) if hosts else made


def sure_card(suite: Suite, place: Place, options: dict[str, Any]) -> Card | None:
    """The one card that the run asks for and, as far as the sharing system keeps its word, will take."""
    if suite.nodes > 1 or int(options.get("cards", suite.cards)) != 1:
        return None
    card = place.card or place.only_card
    return card if card is not None and suite.card_exact(place.target, str(options.get("resource", ""))) else None


def workload_key(manifest: dict[str, Any]) -> str:
    """A digest of what runs and what it gets: two runs with the same one can be compared. "" without a manifest."""
    if not manifest:
        return ""
    container = manifest["spec"]["template"]["spec"]["containers"][0]
    parts = [container.get(name) for name in ("image", "command", "args", "env", "resources")]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:32]
