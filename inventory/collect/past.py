"""What cards were, as a Prometheus still knows it, in equal steps, for the charts of a card or of a node's cards.

The metrics that an exporter has for these cards are found out by asking, by the label in which it writes a card's UUID. Each is
asked for at eight moments of each step. The samples of a moment are read by the exporter's own reader, as those of a round are, so
that units, sentinels, figures of pods and series that come and go with them mean the same; a step is the mean of its moments.
Functions over time would be cheaper, and would bring together what that reader tells apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import fmean

import msgspec

from exporters import FORMATS, recognise
from exporters.engine import measures
from exporters.engine.answers import read_answer
from exporters.engine.context import Context
from exporters.engine.format import Format, Found, Gauge
from exporters.engine.identity import normal_uuid
from exporters.engine.problems import ProblemCounts
from exporters.engine.samples import Sample
from inventory.collect.errors import STRANGE
from inventory.collect.prometheus import Prometheus, PrometheusError
from inventory.history import packed
from inventory.history.packed import MIB, Values
from kube.decoders import decoder
from wording.said import sentence

#: A node has some 16 cards; of more the chart is gpudash's own.
MOST_CARDS = 32
#: Moments of a step; exporters are scraped each 15 to 60 s, so there are not more than one a minute.
MOMENTS, LEAST_S = 8, 60
#: Signs of work, best first, as `merged.ACTIVITY` has them.
_ACTIVITY = (measures.GRAPHICS_ACTIVE.name, measures.SM_ACTIVE.name, measures.UTILIZATION.name)
_WANTED = frozenset({measures.MEMORY_USED.name, measures.UTILIZATION.name, *_ACTIVITY})
_UUID = re.compile(r"[A-Za-z0-9_-]{8,96}")
#: An answer about some cards: 500 steps of 32 cards, with all their labels.
_MOST_BYTES = 16 << 20


class Steps(msgspec.Struct, frozen=True):
    """first: unix seconds of the beginning of the first of `count` steps."""

    first: int
    step_s: int
    count: int


class _Series(msgspec.Struct):
    metric: dict[str, str]
    values: list[tuple[float, str]]


class _Matrix(msgspec.Struct):
    resultType: str
    result: list[_Series]


class _Answer(msgspec.Struct):
    status: str
    data: _Matrix | None = None


_matrix = decoder(_Answer)


def ask_past(
    client: Prometheus,
    matchers: str,
    uuids: Collection[str],
    steps: Steps,
    sizes: Mapping[str, int],
    exporters: Collection[str],
) -> dict[str, Values]:
    """Columns as `packed` names them, `steps.count` values each: of one card its own, of several their sum.

    uuids: as their exporter writes them; what is no UUID is left out. sizes: `Context.sizes`. exporters: names of formats that the
    last round found. Raises PrometheusError.
    """
    wanted = sorted({uuid for uuid in uuids if _UUID.fullmatch(uuid)})
    if not wanted or len(wanted) > MOST_CARDS:
        return {}
    formats = [known for known in FORMATS if known.name in exporters and not known.bare and _names(known)]
    columns = _Columns(steps, len(uuids))
    for one, label, names in _found(client, matchers, wanted, formats):
        told: dict[int, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
        for at, samples in _moments(client, matchers, label, wanted, names, steps).items():
            for name, values in _read(one, samples, at, sizes):
                told[int(at - steps.first) // steps.step_s][name].append(values)
        for place, cards in told.items():
            columns.add(place, cards)
    return columns.made()


def _found(
    client: Prometheus, matchers: str, uuids: Sequence[str], formats: Sequence[Format]
) -> Iterator[tuple[Found, str, list[str]]]:
    """(exporter, the label in which it has the UUID, names of its metrics that are wanted) of those that name these cards now."""
    seen: set[str] = set()
    for label in dict.fromkeys(name for known in formats for name in known.identity.uuid):
        mine = [known for known in formats if label in known.identity.uuid]
        prefix = "([a-zA-Z0-9_:]+_)?" if any(known.prefixed for known in mine) else ""
        names = "|".join(sorted({name for known in mine for name in _names(known)}))
        chosen = f'{{__name__=~"{prefix}({names})",{_of(label, uuids)}{_more(matchers)}}}'
        answer = read_answer(client.query(f"count by (__name__) ({chosen})"), ProblemCounts())
        if answer.error:
            raise PrometheusError(STRANGE, answer.error)
        for found in recognise(sample.name for sample in answer.samples):
            wanted = [f"{found.prefix}{name}" for name in _names(found.format)]
            present = [name for name in found.names(sample.name for sample in answer.samples) if name in wanted]
            if found.format in mine and found.format.name not in seen and present:
                seen.add(found.format.name)
                yield found, label, present


def _names(format: Format) -> list[str]:
    return [
        name for name, metric in format.metrics.items() if isinstance(metric, Gauge) and metric.measure.name in _WANTED
    ]


def _moments(
    client: Prometheus, matchers: str, label: str, uuids: Sequence[str], names: Sequence[str], steps: Steps
) -> dict[float, list[Sample]]:
    """Moment → what was then."""
    every_s = max(steps.step_s // MOMENTS, LEAST_S)
    last = steps.first + steps.count * steps.step_s - every_s
    found: dict[float, list[Sample]] = defaultdict(list)
    for name in names:
        expression = f"{name}{{{_of(label, uuids)}{_more(matchers)}}}"
        body = client.query_range(expression, steps.first, last, every_s, _MOST_BYTES)
        for sample in _samples(client, body, name):
            found[sample.timestamp_s or 0.0].append(sample)
    return {at: found[at] for at in found if steps.first <= at <= last}


def _samples(client: Prometheus, body: bytes | bytearray, name: str) -> Iterator[Sample]:
    try:
        answer = _matrix.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise PrometheusError(
            STRANGE, sentence("{base} returned no matrix: {error}", base=client.base, error=str(error)[:200])
        ) from None
    if answer.status != "success" or answer.data is None or answer.data.resultType != "matrix":
        raise PrometheusError(STRANGE, sentence("{base} returned no matrix", base=client.base))
    for series in answer.data.result:
        labels = {key: value for key, value in series.metric.items() if key != "__name__"}
        for at, text in series.values:
            try:
                value = float(text)
            except ValueError:
                continue
            yield Sample(name, labels, value, at)


def _read(
    found: Found, samples: Sequence[Sample], at: float, sizes: Mapping[str, int]
) -> Iterator[tuple[str, dict[str, float]]]:
    """(card, what its exporter's reader makes of the samples of one moment). Slices are not among them."""
    reader = found.format.reader(Context(now=at, sizes=sizes), found.prefix)
    reader.add(samples)
    for reading in reader.report().readings:
        name = normal_uuid(reading.uuid)
        if name is not None and not reading.gpu_instance:
            yield name, {key: value.value for key, value in reading.values.items() if key in _WANTED}


class _Columns:
    """Sums over cards, step by step. Of a card the first exporter that tells a column has it."""

    def __init__(self, steps: Steps, cards: int) -> None:
        self._count, self._cards = steps.count, cards
        #: Column → step → card → value.
        self._columns: dict[str, dict[int, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))

    def add(self, place: int, cards: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
        """What each card was at the moments of a step, as one exporter tells it."""
        for name, moments in cards.items():
            used = _known(moments, (measures.MEMORY_USED.name,))
            if used:
                self._columns[packed.USED][place].setdefault(name, fmean(used) / MIB)
                self._columns[packed.USED_MOST][place].setdefault(name, max(used) / MIB)
            for column, signs in ((packed.UTILIZATION, _ACTIVITY[-1:]), (packed.ACTIVITY, _ACTIVITY)):
                if values := _known(moments, signs):
                    self._columns[column][place].setdefault(name, fmean(values) * 1000)

    def made(self) -> dict[str, Values]:
        columns = {name: self._column(name, steps) for name, steps in self._columns.items()}
        if self._cards > 1 and packed.USED in columns:
            used = self._columns[packed.USED]
            columns[packed.MEASURED] = [len(used[place]) if place in used else None for place in range(self._count)]
            columns[packed.CARDS] = [self._cards if place in used else None for place in range(self._count)]
        return columns

    def _column(self, name: str, steps: Mapping[int, Mapping[str, float]]) -> Values:
        made: Values = [None] * self._count
        for place, values in steps.items():
            total = sum(values.values())
            made[place] = round(total if name in packed.MEMORY else total / len(values))
        return made


def _known(moments: Sequence[Mapping[str, float]], names: Sequence[str]) -> list[float]:
    """Of each moment the first of these measures that it has; moments that have none are left out."""
    return [next(one[name] for name in names if name in one) for one in moments if any(name in one for name in names)]


def _of(label: str, uuids: Sequence[str]) -> str:
    return f'{label}=~"{"|".join(uuids)}"'


def _more(matchers: str) -> str:
    return f",{matchers}" if matchers else ""
