"""docs/notifications.md says what the code does: the snippet verifies a published signature, tables and waits are those in force."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from notifications.channels import KINDS as CHANNELS
from notifications.deliver import RETRY_AFTER
from notifications.models import DeliveryState
from notifications.tell import BEGIN_WAIT, END_WAIT, MORE_WAIT
from notifications.topics import KINDS
from tests.docs.reading import ROOT, table_rows

PAGE = ROOT / "docs" / "notifications.md"
TEXT = PAGE.read_text(encoding="utf-8")
#: Of the Standard Webhooks' own tests.
SECRET, ID, AT = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330"
BODY, SIGNED = b'{"test": 2432232314}', "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    monkeypatch.setattr(time, "time", lambda: float(AT) + 10)
    found: Callable[..., bool] = names["verified"]
    return found


def _headers(**changes: str) -> dict[str, str]:
    given = {"webhook-id": ID, "webhook-timestamp": AT, "webhook-signature": SIGNED}
    return given | {name.replace("_", "-"): value for name, value in changes.items()}


def test_the_snippet_takes_what_is_signed_and_nothing_else(verified: Callable[..., bool]) -> None:
    assert verified(SECRET, _headers(), BODY)
    assert verified(SECRET, _headers(webhook_signature=f"v1,old {SIGNED}"), BODY)
    assert not verified(SECRET, _headers(), BODY + b" ")
    assert not verified(SECRET, _headers(webhook_id="msg_other"), BODY)
    assert not verified("whsec_" + "A" * 32, _headers(), BODY)
    assert not verified(SECRET, _headers(webhook_timestamp=str(int(AT) - 600)), BODY)


def _first_cells(rows: int) -> list[str]:
    return [row[0] for row in table_rows(PAGE) if len(row) == rows]


def test_the_tables_have_all_kinds_of_topics_and_all_states() -> None:
    cells = _first_cells(2)
    assert {one.title for one in KINDS} <= set(cells)
    states = {str(state.label) for state in DeliveryState if state != DeliveryState.SENDING}
    assert states <= set(cells)


def test_every_type_of_channel_has_its_steps() -> None:
    told = " ".join(_first_cells(2)).lower()
    for kind in CHANNELS:
        assert kind.title.lower().split(" ")[0].strip(",/") in told, kind.title


def _words(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    number, unit = next(
        (seconds // size, unit) for size, unit in ((3600, "h"), (60, "min"), (1, "s")) if seconds % size == 0
    )
    return f"{number} {unit}"


def test_the_waits_are_those_in_force() -> None:
    assert f"start of a topic is sent after {_words(BEGIN_WAIT)}" in TEXT
    assert f"end is sent after {_words(END_WAIT)}" in TEXT
    assert f"sent {_words(MORE_WAIT)} after the last message" in TEXT
    *others, last = (_words(one) for one in RETRY_AFTER)
    assert f"after {', '.join(others)} and {last}" in TEXT
