"""One round of questions to a Prometheus: which exporters there are, then each of their metrics, one answer in memory at a time.

Metrics are asked for by name, without aggregation, so that no relabelling is unknown; a metric whose answer is too large for
Prometheus or for us is asked for again in pieces. How old a sample is tells a second question, once for each exporter: the time in an
answer is that of the question. Ages are by Prometheus' clock alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from inventory.collect.errors import TOO_LARGE
from inventory.collect.prometheus import Prometheus, PrometheusError
from inventory.usage import FORMATS, recognise
from inventory.usage.engine.answers import read_answer
from inventory.usage.engine.context import Context
from inventory.usage.engine.format import Format, Found
from inventory.usage.engine.problems import Problem, Told
from inventory.usage.engine.readings import Report
from inventory.usage.engine.samples import Sample

#: Questions under way at once: one is answered while another is read.
IN_FLIGHT = 2
#: Pieces of a question whose answer is too large, by the last character of a label that differs between cards.
PIECES = ("[0-3]", "[4-7]", "[89ab]", "[c-f]")
#: How often a piece is cut again.
DEPTH = 2


class Round(msgspec.Struct, kw_only=True):
    """What a round brought. at: Prometheus' clock, unix seconds. missing: metrics that were not answered, each with its reason."""

    at: float
    reports: list[tuple[Found, Report]] = []
    samples: int = 0
    problems: tuple[Problem, ...] = ()
    warnings: list[str] = []
    missing: list[str] = []


def ask(client: Prometheus, matchers: str, context: Context, alive: Callable[[], None] = lambda: None) -> Round:
    """Ask for everything that a known exporter publishes. alive: called after each answer. Raises PrometheusError.

    An error ends the round, except where one metric alone is refused: then the rest is read, and `missing` names it.
    """
    told = Told()
    made = Round(at=0.0)
    asker = _Asker(client, matchers, made, told, alive)
    present = asker.names()
    # Prometheus' clock is the one that ages are counted by.
    context = msgspec.structs.replace(context, now=made.at or context.now)
    for found in recognise(frozenset(present)):
        if not found.format.bare:
            made.reports.append((found, asker.report(found, context, present)))
    made.problems = told.problems()
    return made


class _Asker:
    """The questions of one round."""

    def __init__(self, client: Prometheus, matchers: str, made: Round, told: Told, alive: Callable[[], None]) -> None:
        self._client, self._matchers, self._made, self._told, self._alive = client, matchers, made, told, alive

    def names(self) -> dict[str, float]:
        """The metrics of all exporters that have samples now, each with the number of its series."""
        self._made.at = self._now()
        plain = {name for known in FORMATS if not known.bare and not known.prefixed for name in known.metrics}
        prefixed = {name for known in FORMATS if not known.bare and known.prefixed for name in known.metrics}
        found: dict[str, float] = {}
        # A name as a whole is looked up in an index; one that may have something before it is looked for among all.
        for names, before in ((plain, ""), (prefixed, "([a-zA-Z0-9_:]+_)?")):
            if names:
                selector = f'{{__name__=~"{before}({"|".join(sorted(names))})"{self._more}}}'
                samples = self._read(self._client.query(f"count by (__name__) ({selector})"), "")
                found.update((sample.name, sample.value) for sample in samples)
                self._alive()
        return found

    def _now(self) -> float:
        found = self._read(self._client.query("vector(time())"), "time")
        return found[0].value if found else 0.0

    @property
    def _more(self) -> str:
        return f",{self._matchers}" if self._matchers else ""

    def report(self, found: Found, context: Context, present: dict[str, float]) -> Report:
        reader = found.format.reader(context, found.prefix)
        names = found.names(present)
        times = _Times(self._stamps(max(names, key=lambda name: present[name])))
        with ThreadPoolExecutor(1, "prometheus") as pool:
            for name, body in self._answers(pool, names):
                reader.add(times.stamped(self._counted(body, name)))
                self._alive()
        return reader.report()

    def _stamps(self, name: str) -> Iterator[Sample]:
        """When the samples of one metric were taken: of that which has most series. Those of one target are of one moment."""
        for body in self._pieces("timestamp({})", name, DEPTH):
            yield from self._read(body, name)
            self._alive()

    def _answers(self, pool: ThreadPoolExecutor, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Name and answer, one answer ahead of the reader."""
        waiting: list[tuple[str, Future[list[bytes]]]] = []
        for name in names:
            waiting.append((name, pool.submit(self._whole, name)))
            if len(waiting) < IN_FLIGHT:
                continue
            yield from self._taken(*waiting.pop(0))
        for name, future in waiting:
            yield from self._taken(name, future)

    def _taken(self, name: str, future: Future[list[bytes]]) -> Iterator[tuple[str, bytes]]:
        try:
            for body in future.result():
                yield name, body
        except PrometheusError as error:
            if error.kind != TOO_LARGE:
                raise
            self._made.missing.append(f"{name}: {error.text}")

    def _whole(self, name: str) -> list[bytes]:
        return list(self._pieces("{}", name, DEPTH))

    def _pieces(self, expression: str, name: str, depth: int, more: str = "") -> Iterator[bytes]:
        """The answer to one metric; where it is too large, the answers to its pieces."""
        selector = f"{name}{{{more}{self._matchers}}}"
        try:
            yield self._client.query(expression.format(selector))
        except PrometheusError as error:
            if error.kind != TOO_LARGE or not depth:
                raise
            for matcher in _cut(name, depth):
                yield from self._pieces(expression, name, depth - 1, f"{more}{matcher},")

    def _counted(self, body: bytes, name: str) -> tuple[Sample, ...]:
        samples = self._read(body, name)
        self._made.samples += len(samples)
        return samples

    def _read(self, body: bytes, name: str) -> tuple[Sample, ...]:
        answer = read_answer(body, self._told, name or None)
        if answer.error:
            raise PrometheusError("strange", answer.error)
        for text in answer.warnings:
            if text not in self._made.warnings and len(self._made.warnings) < 20:
                self._made.warnings.append(text)
        if answer.partial:
            self._made.missing.append(f"{name}: the answer is not whole, it says")
        return answer.samples


def _cut(name: str, depth: int) -> list[str]:
    """Matchers that each take a part of the cards, and together all: by a label that names the card, whatever it is called."""
    label = _card_label(name)
    before = "." * (DEPTH - depth)
    parts = [f'{label}=~".*{last}{before}"' for last in PIECES]
    return [*parts, f'{label}!~".*[0-9a-f]{before}"']


def _card_label(name: str) -> str:
    for known in FORMATS:
        for bare in (name, *(name[at + 1 :] for at, letter in enumerate(name) if letter == "_")):
            if bare in known.metrics:
                named: Format = known
                labels = (*named.identity.uuid, *named.identity.serial, *named.identity.pci, *named.identity.index)
                return labels[0] if labels else "instance"
    return "instance"


class _Times:
    """When samples were taken: by all labels of a series, else by its target."""

    def __init__(self, stamps: Iterable[Sample]) -> None:
        self._series: dict[int, float] = {}
        self._targets: dict[tuple[str, str], float] = {}
        for stamp in stamps:
            labels = stamp.labels
            self._series[hash(frozenset(labels.items()))] = stamp.value
            target = (labels.get("job", ""), labels.get("instance", ""))
            self._targets[target] = max(stamp.value, self._targets.get(target, 0.0))

    def stamped(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        for sample in samples:
            labels = sample.labels
            at = self._series.get(hash(frozenset(labels.items())))
            if at is None:
                at = self._targets.get((labels.get("job", ""), labels.get("instance", "")), sample.timestamp_s)
            yield Sample(sample.name, labels, sample.value, at)
