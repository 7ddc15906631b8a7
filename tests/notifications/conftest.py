from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.notifications import beds


@pytest.fixture(autouse=True)
def _kinds() -> Iterator[None]:
    with beds.kinds():
        yield
