"""What exporters say, from bytes to readings of cards, on one core.

Answers of Prometheus as a GPU Operator's dcgm-exporter gives them through the Prometheus operator's relabelling: 40,000 cards on
5,000 nodes, half of them held by a pod, 20 metrics, one answer each. And one page of 50 MB, as a federation gives it. Each part
is a process of its own, whose CPU seconds and peak are taken; making the data is not counted. Beside it the parser of
prometheus_client reads a part of the same page.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.answers import Answers
from bench.report import MIB, emit, measure, progress

METRICS = 20
NOW = 1_760_000_000.0
CARDS_OF_NODE = 8
PAGE_BYTES = 50 * 10**6
#: So much of the page is enough for the rate of the other parser.
OTHER_BYTES = 5 * 10**6


def run(small: bool) -> None:
    cards = 4_000 if small else 40_000
    with tempfile.TemporaryDirectory() as folder:
        progress(f"usage-formats: {METRICS} answers of {cards} cards")
        _part("make", folder, cards)
        _emit("answers", folder, cards)
        progress("usage-formats: a page")
        _part("make-page", folder, PAGE_BYTES // (10 if small else 1))
        _emit("page", folder, cards)


def _emit(kind: str, folder: str, cards: int) -> None:
    """The part looks at what was read itself, and ends in an error when it is not what was written: no line then."""
    found, peak_mib = _part(kind, folder, cards)
    emit(f"usage-formats {kind}", Answers(right=int(found["samples"])), **found, peak_mib=round(peak_mib))


def _part(part: str, folder: str, number: int) -> tuple[dict[str, float], float]:
    """A process of its own: what it says, and its peak in MiB."""
    command = [sys.executable, "-m", "bench.usage_formats", part, folder, str(number)]
    ended = measure(command, dict(os.environ), os.getcwd())
    return json.loads(ended.output or "{}"), ended.peak_bytes / MIB


def _labels(card: int) -> dict[str, str]:
    node, index = divmod(card, CARDS_OF_NODE)
    own = {
        "DCGM_FI_DRIVER_VERSION": "570.86.15",
        "Hostname": f"gpu-node-{node:05d}",
        "UUID": f"GPU-{card:08x}-06c0-7d70-1a51-e59b25b2c16c",
        "container": "nvidia-dcgm-exporter",
        "device": f"nvidia{index}",
        "endpoint": "gpu-metrics",
        "gpu": str(index),
        "instance": f"10.{node >> 8}.{node & 255}.7:9400",
        "job": "nvidia-dcgm-exporter",
        "modelName": "NVIDIA H100 80GB HBM3",
        "namespace": "gpu-operator",
        "pci_bus_id": f"00000000:{index:02X}:00.0",
        "pod": f"nvidia-dcgm-exporter-{node:05x}",
        "service": "nvidia-dcgm-exporter",
    }
    holder = {"exported_container": "main", "exported_namespace": "ml", "exported_pod": f"train-{card}-0"}
    return own | holder if card % 2 else own


def _names() -> list[str]:
    from exporters import FORMATS
    from exporters.engine.format import Gauge

    return [name for name, metric in FORMATS[0].metrics.items() if isinstance(metric, Gauge)][:METRICS]


def _value(name: str, card: int) -> float:
    """In the range of all of them."""
    return 1.0 if "RATIO" in name or "PROF" in name else 20 + card % 80


def _make(folder: Path, cards: int) -> None:
    for position, name in enumerate(_names()):
        result = (
            {
                "metric": dict(sorted({"__name__": name, **_labels(card)}.items())),
                "value": [NOW - 9.5, f"{_value(name, card):g}"],
            }
            for card in range(cards)
        )
        rows = ",".join(json.dumps(row, separators=(",", ":")) for row in result)
        (folder / f"{position}.json").write_text(
            f'{{"status":"success","data":{{"resultType":"vector","result":[{rows}]}}}}'
        )


def _make_page(folder: Path, size: int) -> None:
    def lines() -> Iterator[str]:
        names, written, card = _names(), 0, 0
        block = size // len(names)
        for name in names:
            yield f"# HELP {name} {name} of a card.\n# TYPE {name} gauge\n"
            written, card = 0, 0
            while written < block:
                labels = ",".join(f'{label}="{value}"' for label, value in _labels(card).items())
                line = f"{name}{{{labels}}} {_value(name, card):g} {NOW - 9.5:.0f}000\n"
                written, card = written + len(line), card + 1
                yield line

    with (folder / "page.txt").open("w") as page:
        page.writelines(lines())


def _context(cards: int) -> object:
    from exporters import Context

    return Context(now=NOW, nodes=frozenset(f"gpu-node-{node:05d}" for node in range(cards // CARDS_OF_NODE + 1)))


def _answers(folder: Path, cards: int) -> None:
    from exporters import FORMATS, read_answer

    reader = FORMATS[0].reader(_context(cards))  # type: ignore[arg-type]
    size = 0
    decoding = adding = 0.0
    for position in range(METRICS):
        body = (folder / f"{position}.json").read_bytes()
        size += len(body)
        began = time.process_time()
        answer = read_answer(body, reader.told, sets=reader.sets)
        decoded = time.process_time()
        reader.add(answer.samples)
        decoding, adding = decoding + decoded - began, adding + time.process_time() - decoded
        del answer, body
    began = time.process_time()
    report = reader.report()
    reporting = time.process_time() - began
    if len(report.readings) != cards or report.samples != cards * METRICS or report.problems:
        raise SystemExit(
            f"{len(report.readings)} readings of {cards} cards, {report.samples} samples, {report.problems}"
        )
    total = decoding + adding + reporting
    _say(cards, report.samples, size, total, decoding_s=decoding, adding_s=adding, reporting_s=reporting)


def _page(folder: Path, _cards: int) -> None:
    from exporters import FORMATS, page_names, read_page

    body = (folder / "page.txt").read_bytes()
    began = time.process_time()
    names = page_names(body)
    named = time.process_time() - began
    reader = FORMATS[0].reader(_context(100_000))  # type: ignore[arg-type]
    began = time.process_time()
    samples = list(read_page(body, names, reader.told, sets=reader.sets))
    parsing = time.process_time() - began
    began = time.process_time()
    reader.add(samples)
    report = reader.report()
    adding = time.process_time() - began
    if report.samples != len(samples) or report.unknown or report.problems:
        raise SystemExit(f"{report.samples} of {len(samples)} samples, {report.problems}")
    other = _other(body)
    _say(
        len(report.readings),
        report.samples,
        len(body),
        named + parsing + adding,
        parsing_s=parsing,
        parsed_per_s=len(samples) / parsing,
        prometheus_client_parsed_per_s=other,
        times_prometheus_client=len(samples) / parsing / other,
    )


def _other(body: bytes) -> float:
    """Samples a second of prometheus_client's parser, on the first part of the page."""
    from prometheus_client.parser import text_string_to_metric_families

    text = body[: body.index(b"\n", min(OTHER_BYTES, len(body) - 2)) + 1].decode()
    began = time.process_time()
    count = sum(len(family.samples) for family in text_string_to_metric_families(text))
    return count / (time.process_time() - began)


def _say(cards: int, samples: int, size: int, cpu_s: float, **more: float) -> None:
    figures = {
        "cards": cards,
        "samples": samples,
        "megabytes": size / 1e6,
        "cpu_s": cpu_s,
        "samples_per_s": samples / cpu_s,
    }
    print(json.dumps(figures | more))


PARTS = {"make": _make, "make-page": _make_page, "answers": _answers, "page": _page}

if __name__ == "__main__":
    PARTS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
