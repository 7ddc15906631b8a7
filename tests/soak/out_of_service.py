"""Cards that fail, are taken out of service, and return: by a pass, by a person, by a mark that somebody removes.

Another tool's taint stands on their nodes all the time. Each step is asked for through REST until it is done, whatever goes wrong
meanwhile.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from json import JSONDecodeError, loads
from typing import Any, NamedTuple

from tests.controlplane.admin import Refused
from tests.controlplane.objects import Json
from tests.soak.api import PatientAdmin, patiently
from tests.soak.checks import Check, few
from tests.soak.churn import QUARANTINED
from tests.soak.kubelet import FAILED, PatientKubelet
from tests.soak.requests import Asked, Client, Site

SUITE = "cuda-vectoradd"
POLL_S = 1.0
#: Failed runs that recommend a case.
FAILURES = 2
#: How a case ends, in turn: the reason that it then gives.
ENDS = ("passed", "person", "removed-by-hand")
OTHERS = {"key": "example.com/broken", "value": "yes", "effect": "PreferNoSchedule"}


class Seen(NamedTuple):
    """A case as its row has it. marks, unmarks: entries of the audit log."""

    case: str
    node: str
    state: str
    reason: str
    marks: int
    unmarks: int


class OutOfService:
    """done: how many cases went all their way. expected: case → the reason for which it is to return."""

    def __init__(
        self,
        admin: PatientAdmin,
        kubelet: PatientKubelet,
        site: Site,
        token: str,
        cluster: str,
        asked: Callable[[Asked], None],
    ) -> None:
        self.admin, self.kubelet, self.cluster = admin, kubelet, cluster
        self.client = Client(site, asked, token)
        self.done = 0
        self.expected: dict[str, str] = {}
        self._runs = 0
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(node, turn), name=f"out of service {node}", daemon=True)
            for turn, node in enumerate(QUARANTINED)
        ]

    def start(self) -> None:
        for node in QUARANTINED:
            self._taints(node, lambda taints: [*taints, OTHERS])
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """What is under way is left as it is; what is out stays out."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _run(self, node: str, turn: int) -> None:
        with suppress(_Over):
            while True:
                self._one(node, ENDS[turn % len(ENDS)])
                self.done += 1
                turn += 1

    def _one(self, node: str, end: str) -> None:
        """A card of the node fails, is taken out, and returns."""
        self.kubelet.scripts[node] = FAILED
        for _ in range(FAILURES):
            self._validate(node)
        case = self._until(lambda: self._case(node, "recommended"))
        self.expected[case] = end
        self._until(lambda: self._post(f"out-of-service/{case}/accept", {"note": "soak"}))
        self._until(lambda: self._case(node, "out"))
        self.kubelet.scripts.pop(node)
        if end == "passed":
            self._validate(node)
        elif end == "person":
            self._until(lambda: self._post(f"out-of-service/{case}/return", {"note": "soak"}))
        else:
            self._taints(node, lambda taints: [one for one in taints if one["key"] == OTHERS["key"]])
        self._until(lambda: self._case(node, "returned", case))
        if end != "passed":
            self._validate(node)  # so that failures count from here on

    def _validate(self, node: str) -> None:
        """A run to its end: asked for with one key until it is taken."""
        self._runs += 1
        key = f"out-of-service-{node}-{self._runs}"
        draft = {"suite": SUITE, "cluster": self.cluster, "node": node}
        run = self._until(lambda: self._post("runs", draft, key).get("id", ""))
        self._until(lambda: self._get(f"runs/{run}").get("state") == "ended")

    def _case(self, node: str, state: str, case: str = "") -> str:
        """Id of the newest case of the node, if it is in this state; "" otherwise."""
        rows = self._get(f"out-of-service?node={node}&ordering=-id").get("results") or [{}]
        found = rows[0]
        return str(found["id"]) if found.get("state") == state and case in ("", found["id"]) else ""

    def _get(self, path: str) -> Json:
        return _value(self.client.ask(f"rest {path.partition('/')[0].partition('?')[0]}", f"/api/v1/{path}"))

    def _post(self, path: str, body: Mapping[str, Any], key: str = "") -> Json:
        return _value(self.client.post_json(f"rest POST {path.partition('/')[0]}", f"/api/v1/{path}", body, key))

    def _until(self, done: Callable[[], Any]) -> Any:
        """What it answers as soon as that is anything. Raises _Over when the soak ends before."""
        while not (found := done()):
            if self._stopped.wait(POLL_S):
                raise _Over
        return found

    def _taints(self, node: str, change: Callable[[list[Json]], list[Json]]) -> None:
        """As a person does it with kubectl: nothing that was written meanwhile is lost."""

        def once() -> bool:
            found = self.admin.call("GET", f"/api/v1/nodes/{node}")
            wanted = change(list(found["spec"].get("taints") or []))
            spec = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "spec": {"taints": wanted}}
            try:
                self.admin.patch(found, spec)
            except Refused as refused:
                return refused.status != 409 and _raised(refused)
            return True

        self._until(lambda: patiently(once))


class _Over(Exception):
    """The soak ends."""


def checks(made: OutOfService) -> Iterable[Check]:
    """Asks the tables and the cluster."""
    from audit.models import Entry
    from quarantine.models import ACTING, Case

    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for action, detail in Entry.objects.filter(action__in=("case-mark", "case-unmark")).values_list("action", "detail"):
        counted[str(detail["id"])][action] += 1
    rows = [
        Seen(pk, node, state, reason, counted[pk]["case-mark"], counted[pk]["case-unmark"])
        for pk, node, state, reason in Case.objects.values_list("pk", "node_name", "state", "return_reason")
    ]
    acting = {row.node for row in rows if row.state in ACTING}
    taints = {
        one["metadata"]["name"]: {taint["key"] for taint in one["spec"].get("taints") or []}
        for one in patiently(lambda: made.admin.list("/api/v1/nodes"))
    }
    yield once_each(rows, made.expected, made.done)
    yield marks_and_rows(acting, taints)
    yield others_stay({node: taints.get(node, set()) for node in QUARANTINED})


def once_each(rows: Sequence[Seen], expected: Mapping[str, str], done: int) -> Check:
    """Pure. Each case was marked and unmarked once, and returned for the reason that it was given."""
    bad = [f"case {one} is not there" for one in sorted(set(expected) - {row.case for row in rows})]
    for row in rows:
        if row.state == "returned" and row.reason != expected.get(row.case):
            bad.append(f"case {row.case} returned as {row.reason}, not as {expected.get(row.case)}")
        wanted = (int(row.state in ("out", "returning", "returned")), int(row.state == "returned"))
        if (row.marks, row.unmarks) != wanted:
            bad.append(
                f"case {row.case} is {row.state} ({row.reason}): marked {row.marks}, unmarked {row.unmarks} times"
            )
    figure = f"{len(rows)} cases, {done} to their end"
    return Check("each case is marked and returned once", bool(done) and not bad, figure, few(bad))


def marks_and_rows(acting: Iterable[str], taints: Mapping[str, set[str]]) -> Check:
    """Pure. acting: nodes with a case that is to have a mark. taints: node → keys."""
    from inventory.marks import TAINT

    wanted, marked = set(acting), {node for node, keys in taints.items() if TAINT in keys}
    bad = [f"{node} has a mark and no case" for node in sorted(marked - wanted)]
    bad += [f"{node} has a case and no mark" for node in sorted(wanted - marked)]
    return Check("no mark without a case, no case without its mark", not bad, f"{len(marked)} marks", few(bad))


def others_stay(taints: Mapping[str, set[str]]) -> Check:
    """Pure. node → keys of its taints."""
    bad = [f"{node} has lost {OTHERS['key']}" for node, keys in taints.items() if OTHERS["key"] not in keys]
    return Check("the taints of others stay", bool(taints) and not bad, f"{len(taints)} nodes", few(bad))


def _value(answer: Any) -> Json:
    """The body of a good answer; {} otherwise."""
    if answer is None or answer.status not in (200, 201):
        return {}
    with suppress(JSONDecodeError):
        return dict(loads(answer.body))
    return {}


def _raised(refused: Refused) -> bool:
    raise refused
