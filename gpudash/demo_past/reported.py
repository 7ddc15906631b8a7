"""A result of another tool: the acceptance test of a node, as its JUnit report says. It proves nothing."""

from __future__ import annotations

from contextlib import suppress

from django.contrib.auth.models import User

from fleetsim.clock import HOUR
from gpudash.demo_past.clock import Times, utc
from inventory.models import Card, Cluster
from validations.imported import Report, receive
from validations.planning import Refused

_NODE = "gpu-t4-01"
#: Days ago.
_AGO = 9


def write(cluster: Cluster, user: User, times: Times) -> bool:
    """Whether there is such a node."""
    found = Card.objects.filter(cluster=cluster, node_name=_NODE, removed_at=None).values_list("index", flat=True)
    cards = sorted(index for index in found if index is not None)
    if not cards:
        return False
    at = utc(times.on_day(_AGO, 10 * HOUR)).strftime("%Y-%m-%dT%H:%M:%SZ")
    with suppress(Refused):
        receive(Report(format="junit", content=_report(cards, at).encode(), cluster=cluster.name), user)
        return True
    return False


def _report(cards: list[int], at: str) -> str:
    """The last card did not pass."""
    cases = [f'<testcase classname="memory" name="gpu {card}" time="612"/>' for card in cards[:-1]]
    wrong = '<failure message="2 of 4026531840 words differ from what was written"/>'
    cases.append(f'<testcase classname="memory" name="gpu {cards[-1]}" time="97">{wrong}</testcase>')
    head = f'name="acceptance-memory" hostname="{_NODE}" tests="{len(cards)}" failures="1" errors="0" timestamp="{at}"'
    return f"<testsuites><testsuite {head}>{''.join(cases)}</testsuite></testsuites>\n"
