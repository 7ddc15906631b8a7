"""A process that makes one pass over a cluster and dies at a point of it, as by kill -9.

python -m tests.cluster_quarantine.killed CLUSTER_ID before|after NAME: of a function of `quarantine.moves`, or a call of `Api`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import django

DIED = 7


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from quarantine import moves, tasks
    from quarantine.calls import Api

    cluster_id, moment, name = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    owner: Any = moves if hasattr(moves, name) else Api
    setattr(owner, name, dying(getattr(owner, name), moment))
    tasks.reconcile(cluster_id)
    sys.exit("it was not killed: the point was not reached")


def dying(call: Callable[..., Any], moment: str) -> Callable[..., Any]:
    def made(*words: Any, **named: Any) -> Any:
        if moment == "after":
            call(*words, **named)
        os._exit(DIED)

    return made


if __name__ == "__main__":
    main()
