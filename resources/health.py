"""What sources say of the health of a card or a node."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from resources.declared import Shape, fact


class HealthReport(Shape):
    """One health report: source, state, start and action."""

    source: Annotated[str, fact("Source: kubelet, device-plugin, a stack, an exporter or a node condition writer.")]
    level: Annotated[
        str, fact("healthy, degraded, unhealthy; unknown: the report does not determine the health of the card.")
    ]
    code: Annotated[str, fact("Stable code: xid-79, row-remap-pending, or a condition type.")]
    message: Annotated[str, fact("English text of the code.", of="says")]
    text: Annotated[str | None, fact("Original text of the source.")]
    since: Annotated[
        datetime | None, fact("Start; null: not reported by the source and present since the first observation.")
    ]
    action: Annotated[str | None, fact("Action: reset, reboot, replace, look-at-application, …; null: none.")]
    remedy: Annotated[str | None, fact("English text of the code.")]
    lost_at: Annotated[
        datetime | None,
        fact("Time when the source stopped reporting, this is its last report; null: current."),
    ]
