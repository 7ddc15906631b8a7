"""What tests of the validation pages share: a cluster with nodes and cards that suites can run on, and an operator."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.roles import Role
from inventory.models import Card, Cluster
from tests.cast import make_user, signed_in
from tests.factories import make_node


@pytest.fixture
def operator(db: None) -> Client:
    """Signed in with the role operator."""
    return signed_in(make_user("olga", Role.OPERATOR))


@pytest.fixture
def place(cluster: Cluster) -> Cluster:
    """prod with gpu-1 (gpushare, two cards, one free) and win-1 (DirectX)."""
    make_node(cluster, "gpu-1", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "win-1", "directx", 1, loads=(0.0,))
    return cluster


@pytest.fixture
def card(place: Cluster) -> Card:
    return Card.objects.get(node_name="gpu-1", index=0)
