"""`python -m tests.restclient.fill`: nodes, a component and an operator in the database of the environment; prints the token."""

from __future__ import annotations

import os

import django


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from django.utils import timezone

    from accounts.roles import Role
    from inventory.models import Component
    from tests.cast import make_token, make_user
    from tests.factories import make_cluster, make_node, make_pending_pod

    # In sync for as long as the test takes.
    cluster = make_cluster("prod", age_s=-3600)
    make_node(cluster, "large", "nvidia", 4, loads=(0.0, 1.0))
    make_node(cluster, "small", "gpushare", 2)
    make_pending_pod(cluster, "hungry", quantity=64)
    Component.objects.create(
        cluster=cluster,
        node_name="large",
        name="driver",
        stack="nvidia",
        state="crash-looping",
        digest=0,
        state_since=timezone.now(),
    )
    print(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


if __name__ == "__main__":
    main()
