"""The world and everybody who asks, once for the tests of a file: what one of them changes is rolled back."""

from __future__ import annotations

import pytest

from tests.database import RowsOfModule
from tests.scopes.world import Everybody, World, identities, make_world


@pytest.fixture(scope="module")
def world(rows_of_module: RowsOfModule) -> World:
    with rows_of_module():
        return make_world()


@pytest.fixture(scope="module")
def everybody(world: World, rows_of_module: RowsOfModule) -> Everybody:
    with rows_of_module():
        return identities()
