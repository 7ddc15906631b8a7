"""Campaigns of runs, one after the other through REST, each asked for until it is taken; and what became of all of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from json import JSONDecodeError, loads
from typing import Any

from tests.soak.requests import Answer, Asked, Client, Site

#: In turn, one a campaign.
SUITES = ("cuda-vectoradd", "cuda-nbody")
PARALLEL = 6
POLL_S, AGAIN_S = 1.0, 2.0
#: A campaign that has not ended by then is left behind (the end of the soak says what became of it), and the next one begins.
PATIENCE_S = 45.0


class Campaigns:
    """ids: campaigns that were taken."""

    def __init__(
        self, site: Site, token: str, cluster: str, nodes: tuple[str, ...], asked: Callable[[Asked], None]
    ) -> None:
        self.client = Client(site, asked, token)
        self.cluster, self.nodes = cluster, nodes
        self.ids: list[str] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="campaigns", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No further ones; those under way go on."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stopped.is_set():
            number += 1
            taken = self._ask_for(number)
            if taken:
                self.ids.append(taken)
                self._follow(taken)

    def _ask_for(self, number: int) -> str:
        """Id of the campaign; the same key until it is answered, so that there is one whatever happens in between."""
        places = [{"cluster": self.cluster, "node": node} for node in self.nodes]
        draft = {
            "suite": SUITES[number % len(SUITES)],
            "name": f"soak {number}",
            "targets": places,
            "max_parallel": PARALLEL,
        }
        while not self._stopped.is_set():
            answer = self.client.post_json("rest POST campaigns", "/api/v1/campaigns", draft, f"soak-{number}")
            if answer is not None and answer.status in (200, 201):
                return str(_value(answer)["id"])
            if answer is not None and answer.status < 500:
                self._stopped.wait(AGAIN_S)
                return ""
            self._stopped.wait(AGAIN_S)
        return ""

    def _follow(self, campaign: str) -> None:
        for _ in range(int(PATIENCE_S / POLL_S)):
            if self._stopped.wait(POLL_S):
                return
            answer = self.client.ask("rest campaigns/…", f"/api/v1/campaigns/{campaign}")
            with suppress(JSONDecodeError, KeyError):
                if answer is not None and answer.status == 200 and _value(answer)["state"] != "running":
                    return


def _value(answer: Answer) -> dict[str, Any]:
    return dict(loads(answer.body))
