"""`python -m bench [NAME…] [--small | --nodes N]`: how fast, one JSON object per line on stdout, progress on stderr.

decode        pods a second, one core
parse         MB of log a second, one core, for each suite
usage-formats samples of exporters a second, one core: 20 answers of Prometheus on 40,000 cards, and a page of 50 MB
weights       what each page of the demo weighs, and what one costs that stands open, in Chromium (ADDRESS=link: of a demo that runs)
shared        20 visitors at once on pages, REST and /healthz of one web process (PROCESSES=n: of several), on 5,000 nodes
run-overhead  seconds of a run beyond its Job, and calls of the API per run: alone, and in a campaign of 1,000
queue         seconds of a pass of the launcher with 50 and with 10,000 runs in the queue: slots taken, slots free, nodes lost
usage         one round of the exporters of 40,000 cards from a real Prometheus: seconds, memory, rows written
charts        own history of 40,000 cards: a minute written down, an hour folded, charts of one card and of all
inspect       seconds of `inspect` of a whole cluster of 5,000 nodes
policies      five policies over 40,000 cards: a first look, one without news, the counts of the hour, one after a change
history       lists, the card page and retention with 90 days of 200,000 ended allocations each
first-sync    the large cluster into an empty PostgreSQL and an empty SQLite, beside kubectl; then an unchanged sync
churned       a first sync while 200 objects a second change, beside a quiet one
events        500 changes a second (RATE=n: others) for a minute: from etcd to the committed row
takeover      seconds until another watcher is in sync after SIGKILL
clusters      100 clusters of 50 nodes (CLUSTERS=n: others): until all are in sync, then CPU, memory and connections at rest
              and memory while they change and are looked at
pages         each page, each REST list and /metrics at that size

Without names all of them, in this order; the last four on one filled control plane. --small: 200 nodes and 6,000 pods instead of
5,000 and 150,000, a campaign of 50, a history of 2,000 a day. --nodes: so many nodes, with 30 pods each, in the filled
control plane. Needs PostgreSQL and Redis from run-overhead on, and the control plane (tests/controlplane) from first-sync on; all is
thrown away at the end.

A line with "ok" is judged: only right answers count, one that is not right fails it, and so does a figure that misses its bound
(`bench/promises.py`). Exit code 1: a line was not ok, or did not come.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import queue, report, usage_formats, validations
from bench.promises import LINES

ON_A_CLUSTER = ("first-sync", "churned", "events", "takeover", "pages")
NAMES = (
    "decode",
    "parse",
    "usage-formats",
    "weights",
    "shared",
    "run-overhead",
    "queue",
    "usage",
    "charts",
    "policies",
    "history",
    "inspect",
    "clusters",
    *ON_A_CLUSTER,
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_true")
    size.add_argument("--nodes", type=int, default=0, metavar="N", help="nodes of the filled control plane")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(NAMES)}")
    names = given.names or list(NAMES)
    return _run(names, given.small, given.nodes) or _judged(names)


def _judged(names: Sequence[str]) -> int:
    silent = [line for name in names for line in LINES[name] if not report.SAID[line]]
    for line in silent:
        print(f"no line {line}", file=sys.stderr)
    failed = [f"{line} ({count} of {report.SAID[line]})" for line, count in report.FAILED.items() if count]
    if failed:
        print(f"not ok: {', '.join(failed)}", file=sys.stderr)
    return 1 if silent or failed else 0


def _run(names: Sequence[str], small: bool, nodes: int) -> int:
    if "decode" in names:
        _decode(small)
    if "parse" in names:
        validations.parse()
    if "usage-formats" in names:
        usage_formats.run(small)
    if "weights" in names:
        from bench import weights

        weights.run(small)
    done = 0
    for name, work in ON_SERVICES.items():
        if name in names:
            done = _on_services(work, small) or done
    if "clusters" in names:
        done = _on_a_cluster(["clusters"], small=True) or done
    if any(name in ON_A_CLUSTER for name in names):
        done = _on_a_cluster([name for name in ON_A_CLUSTER if name in names], small, nodes) or done
    return done


def _decode(small: bool) -> None:
    import django

    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
        os.environ["GPUDASH_DATA_DIR"] = folder
        django.setup()
        from bench import decode

        decode.run(small)


def _on_services(work: Callable[[bool], None], small: bool) -> int:
    from tests.services import Missing

    try:
        work(small)
    except Missing as missing:
        print(f"cannot run here: {missing}", file=sys.stderr)
        return 1
    return 0


def _shared(small: bool) -> None:
    from bench import shared

    shared.run(small, int(os.environ.get("PROCESSES", "1")))


def _history(small: bool) -> None:
    from bench import history

    history.run(small)


def _policies(small: bool) -> None:
    from bench import policies

    policies.run(small)


def _charts(small: bool) -> None:
    from bench import charts

    charts.run(small)


def _inspect(small: bool) -> None:
    from bench import inspect

    inspect.run(small)


def _usage(small: bool) -> None:
    from bench import usage

    usage.run(small)


#: Those that need PostgreSQL or Redis, and no control plane.
ON_SERVICES: dict[str, Callable[[bool], None]] = {
    "shared": _shared,
    "run-overhead": validations.overhead,
    "queue": queue.run,
    "usage": _usage,
    "charts": _charts,
    "policies": _policies,
    "history": _history,
    "inspect": _inspect,
}


def _on_a_cluster(names: list[str], small: bool, nodes: int = 0) -> int:
    from bench import churned, events, first_sync, many, pages, takeover
    from bench.bed import bed
    from bench.large import LARGE, SMALL, TINY, Scale
    from tests.services import Missing

    benches = {"first-sync": first_sync.run, "events": events.run, "takeover": takeover.run, "pages": pages.run}
    benches |= {"clusters": many.run, "churned": churned.run}
    scale = TINY if names == ["clusters"] else Scale(nodes) if nodes else SMALL if small else LARGE
    try:
        with bed(scale) as ready:
            for name in names:
                benches[name](ready)
    except Missing as missing:
        print(f"cannot run here: {missing}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    sys.exit(main())
