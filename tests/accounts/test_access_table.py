"""What docs/reference/access-table.md says of REST is what everybody gets, for reading and for writing."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests.cast import make_user, signed_in
from tests.docs.access_rows import COLUMNS, REFUSED, Column, rows
from tests.factories import make_cluster, make_node
from tests.scopes.world import scoped_user

pytestmark = pytest.mark.django_db


def _client(column: Column) -> Client:
    name = f"{column.role}-{column.scope}"
    user = scoped_user(name, *column.places, role=column.role) if column.places else make_user(name, column.role)
    return signed_in(user)


def test_everybody_may_what_the_table_says_and_no_more() -> None:
    make_node(make_cluster("prod"), "gpu-1", cards=1)
    clients = {column: _client(column) for column in COLUMNS}
    wrong = []
    for row in rows():
        address = "/" + re.sub(r"<int:\w+>", "999", row.route.replace("<str:name>", "prod"))
        address = re.sub(r"<\w+:\w+>", "x", address)
        for column, client in clients.items():
            status = client.generic(row.method, address, b"", content_type="application/json").status_code
            if (status == 403) != (row.told(column) == REFUSED) or status in (401, 405):
                wrong.append((row, column.role, column.scope, status))
    assert wrong == []
