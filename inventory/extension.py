"""What an app above adds to the inventory, which knows none of them: each registers its extension when Django is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from inventory.catalogue import CATALOGUE
from inventory.models import Cluster
from inventory.wanted import Wanted
from stacks.engine.stack import Entry


class Extension(msgspec.Struct, frozen=True):
    """pod_labels: labels of pods that the mirror keeps. findings: code → entry, of findings that the app makes.

    wanted: what the credentials of a cluster may have to do. told: what is to be said of a cluster, for `cluster list` and
    `cluster check`. take_over: what `cluster take-over` does; says in words what was done. None: nothing.
    """

    name: str
    pod_labels: tuple[str, ...]
    findings: Mapping[str, Entry]
    wanted: Callable[[], Sequence[Wanted]]
    told: Callable[[Cluster], Sequence[str]]
    take_over: Callable[[Cluster], str] | None = None


#: By the name of their app.
EXTENSIONS: dict[str, Extension] = {}


def register(extension: Extension) -> None:
    """Once for each app. Raises ValueError for a code of a finding that exists."""
    if taken := CATALOGUE.keys() & extension.findings.keys():
        raise ValueError(f"findings of {extension.name} exist already: {', '.join(sorted(taken))}")
    EXTENSIONS[extension.name] = extension
    CATALOGUE.update(extension.findings)
