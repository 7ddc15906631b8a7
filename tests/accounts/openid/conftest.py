"""An issuer that says what a test wants, and is the one of the settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.issuer import published
from tests.accounts.openid.asking import use
from tests.accounts.openid.issuer import Issuer, issuer


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    published.clear()
    yield
    published.clear()


@pytest.fixture
def there(settings: Any) -> Iterator[Issuer]:
    with issuer() as made:
        made.claims = {"groups": ["all"]}
        use(settings, made.url)
        yield made
