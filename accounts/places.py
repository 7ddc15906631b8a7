"""What a role is for, as people write it. A place is a line: `prod` is a cluster, `prod/team-a` a namespace of it, `*/team-a` the
namespace of this name in every cluster. No place at all: everything.

Pure, since settings hold such places too: which clusters there are is not known here (`scopes`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_PLACES = 100
ANYWHERE = "*"
#: As Kubernetes names clusters' contexts here, and namespaces.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)


def is_place(text: str) -> bool:
    """Whether it is written as one. Any text is a cluster's name here: which of them are there `scopes` knows."""
    cluster, slash, namespace = text.partition("/")
    return bool(cluster) and not ((slash and not _NAME.fullmatch(namespace)) or (cluster == ANYWHERE and not slash))


def most_role(places: Sequence[str]) -> str:
    """The highest role within these places. Who has namespaces only looks: a validation takes cards from all who use a cluster."""
    if not places:
        return "admin"
    return "viewer" if any("/" in place for place in places) else "operator"
