"""Each page and each endpoint is asked once, by an administrator, on a small fleet with something of everything.

A change that breaks one of them is seen within seconds (`make test-fast`); what they say is tested where they are.
"""

from __future__ import annotations

import pytest
from django.urls import get_resolver

from accounts.roles import Role
from tests.accounts.test_every_url import PART, routes
from tests.api.everybody import Known, what_exists
from tests.cast import make_user, signed_in
from tests.scopes.world import MINE, SEEN

pytestmark = [pytest.mark.fast, pytest.mark.django_db]

#: What an address needs to be answered.
QUERIES = {
    "api/v1/namespaces/chargeback": f"cluster={SEEN}",
    "api/v1/policies/compare": "a=1&b=2",
    "api/v1/usable": f"cluster={SEEN}&node=gpu-1",
    "api/v1/usable.svg": f"cluster={SEEN}&node=gpu-1",
    "map/brief": "of=/map",
    "cards/compare": "a=<card_id>&b=<other_card_id>",
    "validations/compare": "a=<run_id>&b=<other_run_id>",
    "nodes/compare": f"a={SEEN}/gpu-1&b={SEEN}/gpu-00003",
}
#: Route → its answer here, where that is not 200. 405: it is only posted to, and says so.
OTHERWISE = {
    "sign-in": 302,  # signed in already
    "sign-in/code": 302,
    "sign-in/link/<str:token>": 404,
    "sign-in/oidc": 404,  # not set up
    "sign-in/oidc/callback": 404,
    "account/password": 404,  # by a form that has a user of its own
    "account/two-factor": 404,
    "out-of-service/<str:case_id>/return": 400,  # it is not out
    "views/<int:view_id>": 302,
    "api/v1/signing-key": 409,  # not set
    "i18n/setlang/": 302,
}


@pytest.mark.parametrize("rest", [False, True], ids=["pages", "rest"])
def test_each_address_answers(rest: bool) -> None:
    known = what_exists()
    client = signed_in(make_user("root", Role.ADMIN))
    wrong = []
    for route, _module in routes(get_resolver()):
        if route.startswith("api/") != rest or (route.endswith("/") and rest):
            continue
        path = _filled(f"/{route.removeprefix('^').removesuffix('$')}?{QUERIES.get(route, '')}", known).removesuffix(
            "?"
        )
        status = client.get(path).status_code
        if status not in (OTHERWISE.get(route, 200), 405):
            wrong.append(f"{status} {path}  ({route})")
    assert not wrong, "\n".join(wrong)


def _filled(route: str, known: Known) -> str:
    values = {name: some[0] for name, some in known.values.items()}
    values |= {f"other_{name}": some[-1] for name, some in known.values.items()}
    values |= {"namespace": MINE, "verb": "pause"}
    if route.startswith(("/clusters/", "/api/v1/clusters/")):
        values["name"] = SEEN
    elif route.startswith("/pods/"):
        values["name"] = "mine-pod"
    elif route.startswith("/docs/"):
        values["name"] = "overview.webp" if "pictures" in route else "access"
    return PART.sub(lambda found: values.get(found[1] or found[2], "x"), route)
