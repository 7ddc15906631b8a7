"""One round of questions to a Prometheus: which exporters there are, then each of their metrics, one answer in memory at a time.

Metrics are asked for by name, without aggregation, so that no relabelling is unknown; a metric whose answer is too large for
Prometheus or for us is asked for again in pieces. How old a sample is tells a second question, once for each exporter: the time in an
answer is that of the question. Ages are by Prometheus' clock alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from exporters import FORMATS, recognise
from exporters.engine.answers import read_answer, read_names
from exporters.engine.context import Context
from exporters.engine.format import Format, Found
from exporters.engine.problems import Problem, ProblemCounts
from exporters.engine.readings import Report
from exporters.engine.samples import NOT_LOOKED, Labels, LabelSets, Sample
from inventory.collect.body import Body
from inventory.collect.errors import QUESTION, STRANGE, TOO_LARGE
from inventory.collect.prometheus import Prometheus, PrometheusError
from wording.said import quote, sentence

#: Questions that Prometheus works on at once, while another answer is read.
AT_ONCE = 2
#: Pieces of a question whose answer is too large, by the last character of a label that differs between cards.
PIECES = ("[0-3]", "[4-7]", "[89ab]", "[c-f]")
#: Names of metrics are asked for so long around now.
NAMES_S = 300.0
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
    told = ProblemCounts()
    made = Round(at=0.0)
    asker = _Asker(client, matchers, made, told, alive)
    present = asker.names()
    # Prometheus' clock is the one that ages are counted by.
    context = msgspec.structs.replace(context, now=made.at or context.now)
    for found in recognise(present):
        report = asker.report(found, context, present) if not found.format.bare else None
        # A name may be of series that were there hours ago, or of another cluster.
        if report is not None and report.samples:
            made.reports.append((found, report))
    made.problems = told.problems()
    return made


class _Asker:
    """The questions of one round."""

    def __init__(
        self, client: Prometheus, matchers: str, made: Round, told: ProblemCounts, alive: Callable[[], None]
    ) -> None:
        self._client, self._matchers, self._made, self._told, self._alive = client, matchers, made, told, alive

    def names(self) -> frozenset[str]:
        """The metrics of all exporters that there are; some may have no samples now."""
        self._made.at = self._now()
        plain = {name for known in FORMATS if not known.bare and not known.prefixed for name in known.metrics}
        prefixed = {name for known in FORMATS if not known.bare and known.prefixed for name in known.metrics}
        found: set[str] = set()
        # A name as a whole is looked up in an index; one that may have something before it is looked for among all.
        for names, before in ((plain, ""), (prefixed, "([a-zA-Z0-9_:]+_)?")):
            if names:
                found |= self._present(names, before)
                self._alive()
        return frozenset(found)

    def _present(self, names: set[str], before: str) -> set[str]:
        """Which of these names there are. before: a pattern of what may stand before one."""
        # All beginnings instead of all names: the question has to go into an address.
        short = {name.partition("_")[0] for name in names}
        selector = f'{{__name__=~"{before}({"|".join(sorted(short))}).*"{self._more}}}'
        known = re.compile(f"{before}({'|'.join(map(re.escape, sorted(names)))})")
        now = self._made.at
        try:
            found = read_names(self._client.names(selector, now - NAMES_S, now + NAMES_S))
        except PrometheusError as error:
            if error.kind not in (QUESTION, STRANGE, TOO_LARGE):
                raise
            found = None
        if found is None:
            found = self._counted_names(names, before)
        return {name for name in found if known.fullmatch(name)}

    def _counted_names(self, names: set[str], before: str) -> set[str]:
        """The same by a question that all take, however long it may take there."""
        selector = f'{{__name__=~"{before}({"|".join(sorted(names))})"{self._more}}}'
        return {sample.name for sample in self._read(self._client.query(f"count by (__name__) ({selector})"), "")}

    def _now(self) -> float:
        found = self._read(self._client.query("vector(time())"), "time")
        return found[0].value if found else 0.0

    @property
    def _more(self) -> str:
        return f",{self._matchers}" if self._matchers else ""

    def report(self, found: Found, context: Context, present: frozenset[str]) -> Report:
        reader = found.format.reader(context, found.prefix)
        times = _Times()
        with ThreadPoolExecutor(AT_ONCE, "prometheus") as pool:
            for name, body in self._answers(pool, found.names(present)):
                samples = self._counted(body, name, reader.sets)
                del body  # the next one is there already
                if times.lacks(samples):
                    times.learn(self._stamps(name))
                reader.add(times.stamped(samples))
                self._alive()
        return reader.report()

    def _stamps(self, name: str) -> Iterator[Sample]:
        """When the samples of one metric were taken. Those of one target are of one moment, so few metrics are asked for."""
        for body in self._pieces("timestamp({})", name, DEPTH):
            yield from self._read(body.read(), name)
            self._alive()

    def _answers(self, pool: ThreadPoolExecutor, names: Sequence[str]) -> Iterator[tuple[str, bytearray]]:
        """Name and answer, some ahead of the reader."""
        waiting: list[tuple[str, Future[list[Body]]]] = []
        for name in names:
            waiting.append((name, pool.submit(self._whole, name)))
            if len(waiting) <= AT_ONCE:
                continue
            yield from self._taken(*waiting.pop(0))
        for name, future in waiting:
            yield from self._taken(name, future)

    def _taken(self, name: str, future: Future[list[Body]]) -> Iterator[tuple[str, bytearray]]:
        try:
            bodies = future.result()
            del future
            while bodies:
                yield name, bodies.pop(0).read()
        except PrometheusError as error:
            if error.kind != TOO_LARGE:
                raise
            self._made.missing.append(sentence("{name}: {error}", name=name, error=error.text))

    def _whole(self, name: str) -> list[Body]:
        return list(self._pieces("{}", name, DEPTH))

    def _pieces(self, expression: str, name: str, depth: int, more: str = "") -> Iterator[Body]:
        """The answer to one metric; where it is too large, the answers to its pieces."""
        selector = f"{name}{{{more}{self._matchers}}}"
        try:
            yield self._client.ask(expression.format(selector))
        except PrometheusError as error:
            if error.kind != TOO_LARGE or not depth:
                raise
            for matcher in _cut(name, depth):
                yield from self._pieces(expression, name, depth - 1, f"{more}{matcher},")

    def _counted(self, body: bytearray, name: str, sets: LabelSets) -> tuple[Sample, ...]:
        samples = self._read(body, name, sets)
        self._made.samples += len(samples)
        return samples

    def _read(self, body: bytearray, name: str, sets: LabelSets | None = None) -> tuple[Sample, ...]:
        """sets: of the reader that gets the samples, so that the labels of a card are parsed once for all its metrics."""
        answer = read_answer(body, self._told, name or None, sets)
        if answer.error:
            raise PrometheusError("strange", answer.error)
        for text in answer.warnings:
            if text not in self._made.warnings and len(self._made.warnings) < 20:
                self._made.warnings.append(quote(text))
        if answer.partial:
            self._made.missing.append(sentence("{name}: Prometheus reports a partial response", name=name))
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

    def __init__(self) -> None:
        self._series: dict[int, float] = {}
        self._targets: dict[tuple[str, str], float] = {}

    def lacks(self, samples: Iterable[Sample]) -> bool:
        """Whether one of them is of a target of which nothing is known."""
        targets = self._targets
        last: tuple[str, str] | None = None
        for sample in samples:
            target = _target(sample.labels)
            if target != last and target not in targets:
                return True
            last = target
        return False

    def learn(self, stamps: Iterable[Sample]) -> None:
        """stamps: samples whose values are times."""
        for stamp in stamps:
            self._series[hash(frozenset(stamp.labels.items()))] = stamp.value
            target = _target(stamp.labels)
            self._targets[target] = max(stamp.value, self._targets.get(target, 0.0))

    def stamped(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """The samples with their own times. A sample of which nothing is known keeps the one it has."""
        for sample in samples:
            labels = sample.labels
            if not isinstance(labels, Labels):
                at = self._at(labels)
            elif (at := labels.taken_at) == NOT_LOOKED:
                # The metrics of a card share their labels.
                at = labels.taken_at = self._at(labels)
            yield sample if at is None else Sample(sample.name, labels, sample.value, at)

    def _at(self, labels: Mapping[str, str]) -> float | None:
        at = self._series.get(hash(frozenset(labels.items())))
        return self._targets.get(_target(labels)) if at is None else at


def _target(labels: Mapping[str, str]) -> tuple[str, str]:
    return labels.get("job", ""), labels.get("instance", "")
