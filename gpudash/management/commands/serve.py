"""`gpudash serve`: the web process of a team. `waitress-serve gpudash.wsgi:application` works too, without --probes."""

from __future__ import annotations

import gc
import signal
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from gpudash.later_release import refuse_later
from gpudash.middleware.database_away import wait_briefly_for_database
from gpudash.web import FORWARDED, THREADS, Web, bound_server, start_telemetry
from gpudash.web_processes import several
from inventory.management.shown import ShownCommand


class Command(ShownCommand):
    help = "Serve pages, REST and /metrics. With --probes, /healthz responds even if all threads are in use."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--listen",
            action="append",
            metavar="HOST:PORT",
            help="address to listen on (127.0.0.1:8000); may be repeated",
        )
        parser.add_argument(
            "--probes",
            default="",
            metavar="HOST:PORT",
            help="separate address for /healthz and /readyz",
        )
        parser.add_argument("--threads", type=int, default=THREADS, help=f"parallel requests ({THREADS})")
        parser.add_argument(
            "--trusted-proxy",
            default=settings.TRUSTED_PROXY,
            metavar="ADDRESS",
            help="address of the proxy whose client headers are trusted (GPUDASH_TRUSTED_PROXY; default: none)",
        )
        parser.add_argument(
            "--trusted-proxy-headers",
            default=" ".join(FORWARDED),
            metavar="NAMES",
            help=f"trusted headers of the proxy ({' '.join(FORWARDED)})",
        )
        parser.add_argument("--trusted-proxy-count", type=int, default=1, help="number of chained proxies (1)")

        parser.add_argument(
            "--processes", type=int, default=1, help="web processes on the same address (1); about one per core"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for name in ("threads", "processes"):
            if options[name] < 1:
                raise CommandError(f"--{name} must be 1 or more")
        wait_briefly_for_database()
        listen = options["listen"] or ["127.0.0.1:8000"]
        headers = tuple(options["trusted_proxy_headers"].replace(",", " ").split())
        web = Web(
            options["threads"], options["trusted_proxy"], headers, options["trusted_proxy_count"], options["probes"]
        )
        if options["processes"] > 1:
            refuse_later()
            several(listen, options["processes"], web)
            return
        server = bound_server(" ".join(listen), web)  # looks at the options, too
        refuse_later()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        # What is loaded now stays: a collection that walks through it would hold up everything for half a second.
        gc.collect()
        gc.freeze()
        start_telemetry()
        server.print_listen("Serving on http://{}:{}")
        server.run()
