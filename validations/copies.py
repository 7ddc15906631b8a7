"""A database that is a copy of another, in words: for pages, REST, commands and metrics. Reads rows only."""

from __future__ import annotations

from validations.models import Launcher

OTHER, AHEAD = "other", "ahead"


def copy_words(launcher: Launcher) -> str:
    """Why nothing is launched, deleted or ended in this cluster: this database is a copy; "" when it is not."""
    if launcher.lock_state not in (OTHER, AHEAD):
        return ""
    if launcher.lock_state == OTHER:
        said = f"Another database ({launcher.lock_holder}) is the launcher of this cluster: this one is a copy of it, or was moved."
    else:
        said = "The lock object in the cluster is ahead of this database: it is a copy, or an old backup was put back."
    return (
        f"{said} Nothing is launched, deleted or ended from here. If the other is gone for good: "
        f"manage.py cluster take-over {launcher.cluster.name}"
    )
