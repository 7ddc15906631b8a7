"""The errand that the page is for: a recommendation, what taking it out would do, and then doing it; by keyboard too."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, expect

from accounts.roles import Role
from inventory.models import Cluster
from quarantine.models import Case, CaseState
from tests.browser.conftest import fits
from tests.cast import make_user, signed_in
from tests.factories.quarantine import CORDON, make_case, mark_node

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1400, 390])
def test_a_recommendation_is_accepted_after_its_dry_run(
    browser: Browser, live_server: Any, fleet: Cluster, width: int
) -> None:
    Cluster.objects.update(quarantine_kubeconfig="/etc/gpudash/quarantine")
    case = make_case(fleet, "gpu-00000")
    mark_node(fleet, "gpu-00001", CORDON)
    session = signed_in(make_user("olga", Role.OPERATOR)).cookies[settings.SESSION_COOKIE_NAME]
    context = browser.new_context(base_url=live_server.url, viewport={"width": width, "height": 900})
    context.add_cookies([{"name": session.key, "value": session.value, "url": live_server.url}])
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto("/")
    page.get_by_role("link", name="Decide").click()
    assert fits(page)
    page.get_by_role("link", name="Take out…").click()
    expect(page.get_by_text(f"Taint the node with gpudash.io/failed-validation={case.pk}:NoSchedule.")).to_be_visible()
    page.get_by_text("The same with kubectl").click()
    expect(page.get_by_text("kubectl taint node gpu-00000")).to_be_visible()
    assert fits(page)
    assert Case.objects.get().state == CaseState.RECOMMENDED
    page.get_by_label("Reason (optional)").fill("second failure")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Accepted by olga")).to_be_visible()
    assert fits(page)
    assert Case.objects.get().accepted_note == "second failure"
    page.goto("/out-of-service")
    expect(page.get_by_role("link", name="Return…")).to_be_visible()
    context.close()
    assert errors == []
