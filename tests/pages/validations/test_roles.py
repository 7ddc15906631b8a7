"""Who may do what on the pages of validations: each address against each role."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import URLPattern

from accounts.roles import Role
from inventory.models import Card, Cluster
from pages import urls
from tests.cast import make_user, signed_in
from tests.pages.validations.rows import make_run
from validations.imported import Report, receive
from validations.models import Campaign

LOOK = (
    "/validations",
    "/validations/suites",
    "/validations/compare?a={run}",
    "/validations/new",
    "/validations/campaigns",
    "/validations/campaigns/new",
    "/validations/campaigns/{campaign}",
    "/validations/campaigns/{campaign}/targets",
    "/validations/campaigns/{campaign}/report",
    "/validations/cards/{card}",
    "/validations/results",
    "/validations/results/{result}",
    "/validations/runs/{run}",
    "/validations/runs/{run}/log",
    "/validations/runs/{run}/log.txt",
    "/validations/runs/{run}/manifest",
)
ACT = (
    "/validations/new",
    "/validations/campaigns/new",
    "/validations/campaigns/{campaign}/pause",
    "/validations/campaigns/{campaign}/resume",
    "/validations/campaigns/{campaign}/stop",
    "/validations/campaigns/{campaign}/certificate",
    "/validations/runs/{run}/cancel",
    "/validations/runs/{run}/rerun",
    "/validations/runs/{run}/reparse",
)


@pytest.fixture
def paths(place: Cluster, card: Card) -> dict[str, object]:
    campaign = Campaign.objects.create(suite="cuda-vectoradd")
    result, _ = receive(Report(format="junit", content=b"<testsuite/>", cluster=place.name))
    return {"run": make_run(place, log=b"x\n").pk, "card": card.pk, "campaign": campaign.pk, "result": result.pk}


def test_every_address_is_in_one_of_the_tables() -> None:
    patterns = [pattern for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)]
    names = {pattern.name for pattern in patterns if str(pattern.pattern).lstrip("^").startswith("validations")}
    assert len(names) == len({*LOOK, *ACT}) - 2  # pause, resume and stop are one address


def test_strangers_see_nothing(paths: dict[str, object]) -> None:
    nobody = signed_in(make_user("nobody"))
    for path in LOOK:
        assert Client().get(path.format(**paths)).status_code == 302, path
        assert nobody.get(path.format(**paths)).status_code == 403, path
    for path in ACT:
        assert Client().post(path.format(**paths)).status_code == 302, path
        assert nobody.post(path.format(**paths)).status_code == 403, path


@pytest.mark.parametrize("role", list(Role))
def test_every_role_may_look(role: Role, paths: dict[str, object]) -> None:
    client = signed_in(make_user("someone", role))
    for path in LOOK:
        assert client.get(path.format(**paths)).status_code == 200, path


def test_a_viewer_changes_nothing(viewer: Client, paths: dict[str, object]) -> None:
    for path in ACT:
        assert viewer.post(path.format(**paths)).status_code == 403, path


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.ADMIN])
def test_operators_and_admins_may_act(role: Role, paths: dict[str, object]) -> None:
    client = signed_in(make_user("someone", role))
    for path in ACT:
        assert client.post(path.format(**paths)).status_code in (302, 400), path


def test_looking_never_acts(operator: Client, paths: dict[str, object]) -> None:
    for path in ACT[2:]:
        assert operator.get(path.format(**paths)).status_code == 405, path
