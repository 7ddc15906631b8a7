"""The Job of a run, made of suite, place, options, id and moment: the same for a preview and for what is posted.

Reads no table and no setting. What stands in a run's row is never posted: whoever can write a row must not choose what runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from validations.installation import INSTANCE_LABEL
from validations.maker import MAKER_LABEL
from validations.suites.engine.base import Run, Suite
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
) -> dict[str, Any]:
    """The batch/v1 Job. moment: when it is posted. Raises OptionError, or ValueError when no resource of the place suits."""
    made = suite.manifest(place.target, options, Run(id=run_id, namespace=namespace, moment=moment))
    label = {INSTANCE_LABEL: instance}
    made["metadata"]["labels"] |= label | {MAKER_LABEL: maker}
    made["spec"]["template"]["metadata"]["labels"] |= label
    return made
