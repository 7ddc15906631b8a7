"""Life in the cluster: changes of pods at a steady rate, and of nodes and DaemonSets now and then.

Every card has at most one pod, so that the churn over-commits nothing. A change whose answer did not come is doubtful: what it may
have made is deleted before its place is used again. What the cluster then holds is the truth, whatever it is.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from tests.cluster.fleet import UNITS, Fleet
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import KINDS, Json, Kind, daemonset, node, placed, plugin_pod, pod
from tests.soak.places import Place, Places
from tests.soak.policies import LABEL

CHURNED = "soak"
NODES_EACH, CARDS = 4, 8
#: Nodes of the campaigns, of several ways to give out cards: whole ones, in turns, by memory. The churn leaves them alone.
VALIDATED = ("count-91", "count-92", "status-91", "status-92", "sliced-91", "sliced-92", "gib-91", "gib-92")
#: Nodes of the policy, with one card each: of these it is known which card a run took. Nobody else takes them.
POLICED = tuple(f"count-{number}" for number in range(60, 84))
#: Nodes whose card fails and is taken out of service, with one card each.
QUARANTINED = ("count-93", "count-94", "count-95")
SENDERS = 8
#: A kind of change → how often, in parts of the whole.
WEIGHTS = {"run": 26, "move": 30, "end": 8, "delete": 16, "wait": 2, "relabel": 12, "cordon": 4, "node": 1, "roll": 1}
MOST_ENDED = MOST_WAITING = 20


class Churn:
    """Runs until `stop`. made: changes that the API server has taken. mistakes: what went wrong in the churn itself."""

    def __init__(self, admin: Admin, seed: int, rate: float) -> None:
        self.admin, self.rate = admin, rate
        self.fleet = Fleet(admin)
        self.made = 0
        self.mistakes: list[str] = []
        self._chance = Random(seed)
        places = (
            Place(kind, f"{kind}-{i}", card) for kind in KINDS for i in range(NODES_EACH) for card in range(CARDS)
        )
        self.places = Places(places, self._chance)
        self._numbers = itertools.count(1)
        self._ended, self._waiting, self._doubtful = deque[Json](), deque[Json](), deque[tuple[Place, Json]]()
        self._lost: deque[tuple[str, int, list[Place]]] = deque()
        self._room = threading.Semaphore(SENDERS * 2)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run_all, name="churn", daemon=True)

    def build(self, kubelet_port: int) -> None:
        """The fleet, before anything changes. kubelet_port: where the nodes of the campaigns have their logs."""
        self.admin.ensure_namespace(CHURNED)
        for unit in UNITS.values():
            self.admin.create(daemonset(unit))
        for kind in KINDS:
            for number in range(NODES_EACH):
                self.fleet.node(kind, number)
        for name, cards in [*((name, CARDS) for name in VALIDATED), *((name, 1) for name in (*POLICED, *QUARANTINED))]:
            kind = name.partition("-")[0]
            made = node(name, KINDS[kind], cards)
            made["metadata"]["labels"] |= {LABEL: "yes"} if name in POLICED else {}
            made["status"]["daemonEndpoints"] = {"kubeletEndpoint": {"Port": kubelet_port}}
            self.admin.patch(self.admin.create(made), {"spec": {"taints": None}})
            if kind in UNITS:
                self.admin.create({**plugin_pod(name, UNITS[kind]), "status": {"phase": "Running"}})

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the last change is made."""
        self._stopped.set()
        self._thread.join()

    def _run_all(self) -> None:
        with ThreadPoolExecutor(SENDERS) as pool:
            due = time.monotonic()
            while not self._stopped.wait(max(0.0, due - time.monotonic())):
                self._room.acquire()
                pool.submit(self._one)
                # What could not be sent in time is not made up for: a pause is not followed by a burst.
                due = max(due + self._calls_each() / self.rate, time.monotonic() - 1.0)

    @staticmethod
    def _calls_each() -> float:
        """A new pod is two changes in the API, an event each: created, running."""
        total = sum(WEIGHTS.values())
        return (total + WEIGHTS["run"]) / total

    def _one(self) -> None:
        name = self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        change: Callable[[], None] = getattr(self, f"_{name}")
        try:
            change()
        except OSError:
            self._stopped.wait(0.2)
        except Refused as refused:
            if refused.status not in (404, 409):
                self.mistakes.append(f"{name}: {refused}")
        except Exception as error:  # noqa: BLE001 - a churn that ends unseen would make the soak an idle one
            self.mistakes.append(f"{name}: {type(error).__name__}: {error}")
        finally:
            self._room.release()

    def _patch(self, thing: Json, change: Json, subresource: str = "") -> Json:
        changed = self.admin.patch(thing, change, subresource)
        self.made += 1
        return changed

    def _delete_if_there(self, thing: Json) -> None:
        try:
            self.admin.delete(thing)
            self.made += 1
        except Refused as refused:
            if refused.status != 404:
                raise

    # One kind of change each.

    def _run(self) -> None:
        place = self._tidied() or self.places.take_free(KINDS)
        if place is None:
            return self._delete()
        kind = KINDS[place.kind]
        quantity = self._chance.randint(1, kind.each) if place.kind in UNITS else 1
        made = pod(f"train-{next(self._numbers)}", kind, quantity, place.node, CHURNED)
        # gpushare's scheduler writes the card before it binds: a bound pod without one may be on any card of its node.
        made["metadata"]["annotations"], status = placed(kind, place.node, {place.card: quantity})
        try:
            made = self.admin.create(made)
            self.made += 1
            self._patch(made, {"status": status}, "/status")
        except (OSError, Refused):
            self._doubtful.append((place, made))
            raise
        self.places.give(place, made)

    def _tidied(self) -> Place | None:
        """A place that was doubtful and is free now."""
        try:
            place, made = self._doubtful.popleft()
        except IndexError:
            return None
        try:
            self._delete_if_there(made)
        except OSError:
            self._doubtful.append((place, made))
            raise
        return place

    def _move(self) -> None:
        """To another card of its node, by its annotation, as gpushare's scheduler does."""
        if (taken := self.places.take_held(UNITS)) is None:
            return
        place, made = taken
        other = self.places.take_free([place.kind], place.node)
        if other is None:
            return self.places.give(place, made)
        kind = KINDS[place.kind]
        try:
            annotations, _ = placed(kind, place.node, {other.card: _quantity(made, kind)})
            self._patch(made, {"metadata": {"annotations": annotations}})
        except (OSError, Refused):
            self._doubtful.append((other, made))
            self.places.give(place)
            raise
        self.places.give(place)
        self.places.give(other, made)

    def _end(self) -> None:
        self._let_go(lambda made: self._patch(made, {"status": {"phase": "Succeeded"}}, "/status"), self._ended)
        if len(self._ended) > MOST_ENDED:
            self._delete_if_there(self._ended.popleft())

    def _delete(self) -> None:
        self._let_go(self._delete_if_there)

    def _let_go(self, change: Callable[[Json], Any], after: deque[Json] | None = None) -> None:
        if (taken := self.places.take_held(KINDS)) is None:
            return
        place, made = taken
        try:
            change(made)
        except OSError:
            self._doubtful.append((place, made))
            raise
        self.places.give(place)
        if after is not None:
            after.append(made)

    def _wait(self) -> None:
        """A pod that no node can take, or the oldest of them goes."""
        if len(self._waiting) >= MOST_WAITING:
            return self._delete_if_there(self._waiting.popleft())
        hungry = pod(f"hungry-{next(self._numbers)}", KINDS["gib"], 9999, namespace=CHURNED)
        self._waiting.append(self.admin.create(hungry))
        self.made += 1

    def _any_node(self) -> tuple[str, int]:
        return self._chance.choice(list(KINDS)), self._chance.randrange(NODES_EACH)

    def _node_itself(self) -> Json:
        kind, number = self._any_node()
        return {"kind": "Node", "metadata": {"name": f"{kind}-{number}"}}

    def _relabel(self) -> None:
        labels = {"soak/round": str(next(self._numbers))}
        self._patch(self._node_itself(), {"metadata": {"labels": labels}})

    def _cordon(self) -> None:
        self._patch(self._node_itself(), {"spec": {"unschedulable": self._chance.random() < 0.5 or None}})

    def _node(self) -> None:
        """A node goes, with all that is on it, and comes again; one that was lost half-way comes first."""
        kind, number = self._any_node()
        if self._lost:
            kind, number, mine = self._lost.popleft()
        elif (found := self.places.take_node(f"{kind}-{number}")) is None:
            return
        else:
            mine = found
        try:
            self._rebuild(kind, f"{kind}-{number}", number)
        except (OSError, Refused):
            self._lost.append((kind, number, mine))
            raise
        for place in mine:
            self.places.give(place)

    def _rebuild(self, kind: str, name: str, number: int) -> None:
        self._delete_if_there({"kind": "Node", "metadata": {"name": name}})
        for thing in self.admin.list(f"/api/v1/namespaces/{CHURNED}/pods"):
            if thing["spec"].get("nodeName") == name:
                self._delete_if_there({**thing, "kind": "Pod"})
        if kind in UNITS:
            self._delete_if_there(plugin_pod(name, UNITS[kind]))
        self.fleet.node(kind, number, self._chance.choice((CARDS, CARDS, CARDS * 2)))
        self.made += 3

    def _roll(self) -> None:
        """A DaemonSet says how its roll-out goes."""
        sums = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
        status = dict.fromkeys(sums, self._chance.randrange(9))
        self._patch(daemonset(self._chance.choice(list(UNITS.values()))), {"status": status}, "/status")


def _quantity(made: Json, kind: Kind) -> int:
    """What the pod asks for; the API server has written 6000 as "6k"."""
    text = str(made["spec"]["containers"][0]["resources"]["limits"][kind.resource])
    return int(text[:-1]) * 1000 if text.endswith("k") else int(text)
