"""What sources say of the health of a card or a node."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from resources.declared import Shape, fact


class HealthTold(Shape):
    """One statement: who says what, since when, and what to do."""

    source: Annotated[
        str, fact("Who says it: kubelet, device-plugin, a sharing system, an exporter, who sets conditions of nodes.")
    ]
    level: Annotated[
        str, fact("healthy, degraded, unhealthy; unknown: it says something that tells nothing of the card's health.")
    ]
    code: Annotated[str, fact("What it is, stable: xid-79, row-remap-pending, the type of a condition.")]
    says: Annotated[str, fact("The same in English.")]
    text: Annotated[str | None, fact("As the source wrote it.")]
    since: Annotated[
        datetime | None, fact("Since when; null: the source does not say, and it was there from the first.")
    ]
    action: Annotated[str | None, fact("What to do: reset, reboot, replace, look-at-application, …; null: nothing.")]
    what_to_do: Annotated[str | None, fact("The same in English.")]
    lost_at: Annotated[
        datetime | None,
        fact("Since when the source says nothing any more: this is the last that it said. null: it says so now."),
    ]
