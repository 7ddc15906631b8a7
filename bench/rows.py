"""The mirror of a large cluster straight in the tables, for the benchmarks that only read it: no control plane, a minute at most.

`python -m bench.rows NODES VISITORS` fills the database of the environment and prints one JSON object: the keys of as many
sessions as there are visitors, each of a user of its own with the role viewer.
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
    fill(nodes)
    print(json.dumps({"sessions": [_session(f"visitor-{number}") for number in range(visitors)]}))


def fill(nodes: int) -> None:
    """A cluster "large" in step: its nodes, eight cards each, and their holders."""
    from django.db import connection

    from tests import factories

    batch = factories.Batch(factories.make_cluster("large"))
    for number in range(nodes):
        stack = factories.FLEET[number % len(factories.FLEET)]
        factories.make_node(batch.cluster, f"gpu-{number:05d}", stack, 8, loads=LOADS, batch=batch)
        if number % 10 == 0:
            factories._add_finding(batch, "card-over-committed", "error", f"gpu-{number:05d}", "0")
    for number in range(nodes // 10):
        batch.pods.append(factories._waiting_pod(batch, f"waiting-{number}", "aliyun.com/gpu-mem", 8, number + 1))
    batch.pods += [_component(batch, number) for number in range(max(0, nodes * PODS_OF_A_NODE - len(batch.pods)))]
    _write(batch)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _component(batch: Any, number: int) -> Any:
    from inventory.models import Pod

    name = f"component-{number}"
    place = {"namespace": "kube-system", "node_name": batch.nodes[number % len(batch.nodes)].name}
    return Pod(cluster=batch.cluster, uid=name, name=name, component="plugin", facts="{}", digest=0, **place)


def _write(batch: Any) -> None:
    """As `Batch.write` does, by COPY."""
    from tests.factories import _tile

    tiles: dict[str, list[Any]] = {}
    for key, card in enumerate(batch.cards, 1):
        card.pk = key
        tiles.setdefault(card.node_name, []).append(_tile(card))
    for account in batch.accounts:
        account.tiles = tiles.get(account.node_name, [])
    for hold in batch.allocations:
        hold.card_id = hold.card.pk if hold.card else None
    for rows in (batch.nodes, batch.pods, batch.cards, batch.allocations, batch.findings, batch.accounts):
        _copy(rows)


def _copy(rows: list[Any]) -> None:
    from django.core.management.color import no_style
    from django.db import connection

    from inventory import bulk

    model = type(rows[0])
    names = [field.attname for field in model._meta.concrete_fields if field.attname != "id" or rows[0].pk]
    bulk.insert(model, names, [[getattr(row, name) for name in names] for row in rows])
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), [model]):
            cursor.execute(statement)


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
