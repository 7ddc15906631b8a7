"""Which floor holds for a measurement. A condition that is not known to be met is not met: then there is no floor."""

from __future__ import annotations

from collections.abc import Iterable

from validations.floors.table import Floor, built_in, same_model


def floor_for(
    suite: str,
    measurement: str,
    model: str,
    *,
    cards: int | None = None,
    message: int | None = None,
    machine: str = "",
    table: Iterable[Floor] | None = None,
) -> Floor | None:
    """The floor of a run, or None.

    model: as the cluster names it. cards: how many took part. message: bytes of the largest message. machine: the node's instance
    type. table: the floors of the installation; None: the built-in ones. Of several the administrator's counts first, then one
    for the machine type, then the one for the larger message.
    """
    name = same_model(model)
    found = [
        one
        for one in (built_in() if table is None else table)
        if (one.suite, one.measurement, same_model(one.model)) == (suite, measurement, name)
        and (one.cards is None or one.cards == cards)
        and (one.message is None or (message is not None and message >= one.message))
        and one.machine in ("", machine)
    ]
    return max(found, key=lambda one: (one.own, bool(one.machine), one.message or 0, one.least), default=None)
