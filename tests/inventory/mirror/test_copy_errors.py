"""A COPY that fails raises Django's errors, so that whoever survives an outage of the database survives this one."""

from __future__ import annotations

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from inventory.models import Cluster, DirtyNode
from runtime import bulk

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def only_postgresql(db: None) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no COPY")


def test_a_row_that_does_not_fit(fresh: Cluster) -> None:
    with pytest.raises(DataError), transaction.atomic():
        bulk.insert(DirtyNode, ("cluster_id", "node_name"), [(fresh.pk, "x" * 300)])


def test_a_row_that_lacks_what_it_must_have(fresh: Cluster) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.insert(DirtyNode, ("cluster_id", "node_name"), [(fresh.pk, None)])
