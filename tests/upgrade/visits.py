"""What an installation shows, asked in a process of its own: every page by its links, and the lists of REST with their rows.

    python visits.py USER      # in a folder of the code, of this release or of an earlier one, with the settings of a database

Prints one JSON object: {"pages": {address: status}, "rest": {list: [row, …]}, "summary": {…}}. It imports Django and nothing of
gpudash, since the code of earlier releases runs it too.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

MOST_PAGES = 150
#: Of addresses that differ only in their last step, so many.
OF_A_KIND = 4
LISTS = ("clusters", "nodes", "cards", "allocations", "pods", "findings", "runs", "campaigns", "tokens")
_LINK = re.compile(r'href="(/[^"#?]*)')
#: No pages: they end the session, or are REST, which is asked below.
_NOT_ASKED = ("/sign-out", "/api/", "/static/", "/i18n/")


def main(user: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "gpudash.settings"
    sys.path.insert(0, os.getcwd())
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client(SERVER_NAME="localhost", raise_request_exception=False)
    client.force_login(get_user_model().objects.get(username=user))
    found = {name: _rows(client, f"/api/v1/{name}?page_size=200") for name in LISTS}
    shown = {"pages": _pages(client), "rest": found, "summary": client.get("/api/v1/summary").json()}
    json.dump(shown, sys.stdout, indent=1, sort_keys=True)


def _pages(client: Any) -> dict[str, int]:
    """Each page that a link leads to, from the first page on."""
    ahead, kinds, statuses = ["/"], {"/": 1}, {}
    while ahead and len(statuses) < MOST_PAGES:
        address = ahead.pop(0)
        answer = client.get(address)
        statuses[address] = answer.status_code
        if answer.streaming or "html" not in answer.headers.get("Content-Type", ""):
            continue
        for link in _LINK.findall(answer.content.decode()):
            kind = link.rpartition("/")[0]
            if (
                link in statuses
                or link in ahead
                or link.startswith(_NOT_ASKED)
                or (kinds.get(kind, 0) >= OF_A_KIND and kind)
            ):
                continue
            kinds[kind] = kinds.get(kind, 0) + 1
            ahead.append(link)
    return statuses


def _rows(client: Any, address: str) -> list[Any]:
    """All pages of a list. Raises ValueError with the answer when it is none."""
    rows: list[Any] = []
    while address:
        answer = client.get(address)
        if answer.status_code != 200:
            raise ValueError(f"{address}: {answer.status_code} {answer.content[:300]!r}")
        page = answer.json()
        rows += page["results"]
        address = page["next"] or ""
    return rows


if __name__ == "__main__":
    main(sys.argv[1])
