"""Amounts of one: no "1 units", no "1 nodes"."""

from __future__ import annotations

import pytest
from django.utils import translation

from inventory.models import Allocation
from pages.charts.bars import amount_of


@pytest.mark.parametrize(("quantity", "english", "chinese"), [(1, "1 unit", "1 单位"), (3, "3 units", "3 单位")])
def test_units_of_a_resource(quantity: int, english: str, chinese: str) -> None:
    held = Allocation(quantity=quantity, mode="memory")
    assert amount_of(held) == english
    with translation.override("zh-hans"):
        assert amount_of(held) == chinese
