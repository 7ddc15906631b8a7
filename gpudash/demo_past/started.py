"""What starts with the demo, as a person would start it: policies, a run, a campaign, notifications. Suites say where."""

from __future__ import annotations

from contextlib import suppress

from django.contrib.auth.models import User

from accounts.local import local_admin
from audit.actions import Kind
from audit.who import Who, acting
from gpudash.demo_past import notifications, policies, prices
from inventory.models import Card, Cluster
from validations import campaigns
from validations.planning import Refused, RunDraft
from validations.requests import Busy, request_run
from validations.suites import registry
from validations.suites.engine.base import Suite

#: Runs of a campaign at once: it is to be seen for some minutes.
AT_ONCE = 2


def start(cluster: Cluster, receiver: str = "") -> None:
    """What the fleet has no node for does not start. receiver: address of the demo's own receiver of messages; "" for none."""
    user = local_admin()
    cards = Card.objects.filter(cluster=cluster, removed_at=None).order_by("node_name", "id")
    places = list(cards.values_list("node_name", "key"))
    with acting(Who(name=user.get_username(), kind=Kind.COMMAND.value, via="command")):
        policies.make(cluster, user)
        prices.make()
        if receiver:
            notifications.make(cluster, user, receiver)
        for suite in registry().values():
            _start(cluster, suite, places, user)


def _start(cluster: Cluster, suite: Suite, places: list[tuple[str, str]], user: User) -> None:
    past = suite.demo.past
    nodes = [node for node, _ in places if node.startswith(past.starts)] if past.starts else []
    with suppress(Refused, Busy):
        for node in nodes[:1]:
            request_run(RunDraft(suite=suite.id, cluster=cluster.name, node=node, queue_if_full=True), user)
    for one in past.campaigns:
        spots = [(cluster.name, node, key) for node, key in places if node.startswith(one.nodes)]
        if spots and not one.ago:
            with suppress(Refused):
                campaigns.create(suite.id, spots, user, name=one.name, max_parallel=AT_ONCE)
