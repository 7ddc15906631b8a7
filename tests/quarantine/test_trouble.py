"""The trouble of all device taint rules is not that of the cluster: its nodes are marked all the same."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.models import Cluster
from kube.client import ApiError
from quarantine import tasks
from quarantine.calls import Api
from quarantine.models import Case, How, Marker
from quarantine.passes import reconcile
from tests.factories import make_node
from tests.factories.quarantine import make_case


class Answers:
    """Of an API server: no node is there; what rules are is told by `rules`."""

    def __init__(self, rules: bytes | ApiError) -> None:
        self._rules = rules

    def get(self, path: str, *_: Any) -> bytes:
        if "devicetaintrules" not in path:
            raise ApiError(404, "NotFound", "")
        if isinstance(self._rules, ApiError):
            raise self._rules
        return self._rules

    def send(self, *_: Any) -> bytes:
        raise AssertionError("nothing is written")


@pytest.mark.parametrize(
    ("rules", "words"),
    [(ApiError(403, "Forbidden", "no right"), "no right"), (b'{"items": 7}', "cannot be read"), (b"[" * 9000, "")],
    ids=("refused", "no rules", "deep"),
)
def test_rules_that_cannot_be_listed_are_the_trouble_of_their_cases(
    cluster: Cluster, rules: bytes | ApiError, words: str
) -> None:
    make_node(cluster, "gpu-0", "nvidia", 1)
    card = make_case(cluster, "gpu-0", "accepted", how=How.DEVICE_TAINT)
    node = make_case(cluster, "gpu-1", "returning")
    lease = tasks.acquire(cluster.pk)
    assert lease is not None

    reconcile(lease, Api(Answers(rules)))

    node.refresh_from_db()
    assert node.state == "returned"
    card.refresh_from_db()
    assert card.state == "accepted"
    assert words in Case.objects.get(pk=card.pk).error != ""
    marker = Marker.objects.get()
    assert (marker.error, marker.failing_since) == ("", None)
