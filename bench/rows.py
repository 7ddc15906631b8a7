"""The mirror of a large cluster straight in the tables, for the benchmarks that only read it: no control plane, a minute at most.

`python -m bench.rows NODES VISITORS` fills the database of the environment (0: leaves it as it is) and prints one JSON object:
the keys of as many sessions as there are visitors, each of a user of its own with the role viewer.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

#: Pods that the mirror keeps of each node, holders and components together: 5,000 nodes have 150,000.
PODS_OF_A_NODE = 30
LOADS = (0.0, 0.6, 1.0, 0.8, 0.9, 1.0, 0.5, 0.0)


def main(nodes: int, visitors: int) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    if nodes:
        fill(nodes)
    print(json.dumps({"sessions": [_session(f"visitor-{number}") for number in range(visitors)]}))


def fill(nodes: int) -> None:
    """A cluster "large" in sync: its nodes, eight cards each, and their holders, mirrored and reconciled by the product's code."""
    from django.db import connection

    from tests import factories
    from tests.factories.objects import pending_pod

    cluster = factories.make_cluster("large")
    batch = factories.Batch(cluster)
    names = [f"gpu-{number:05d}" for number in range(nodes)]
    for number, name in enumerate(names):
        stack = factories.FLEET[number % len(factories.FLEET)]
        factories.make_node(cluster, name, stack, 8, loads=LOADS, batch=batch)
    for number in range(nodes // 10):
        batch.pods.append(pending_pod(f"pending-{number}", "aliyun.com/gpu-mem", 8, number + 1, batch.now))
    batch.pods += [_component(number, names) for number in range(max(0, nodes * PODS_OF_A_NODE - len(batch.pods)))]
    batch.write()
    for name in names[::10]:
        factories.make_finding(cluster, node_name=name, card_key="0")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _component(number: int, nodes: list[str]) -> dict[str, Any]:
    """A pod of a device plugin."""
    name = f"nvidia-device-plugin-daemonset-{number}"
    return {
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "uid": name,
            "labels": {"name": "nvidia-device-plugin-ds"},
        },
        "spec": {"nodeName": nodes[number % len(nodes)], "containers": [{"name": "plugin"}]},
        "status": {"phase": "Running"},
    }


def _session(name: str) -> str:
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from accounts.roles import Role
    from tests.cast import make_user

    user = make_user(name, Role.VIEWER)
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
