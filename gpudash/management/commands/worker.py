"""`gpudash worker watch`: one of a team's background processes, a Celery worker that takes one queue."""

from __future__ import annotations

from argparse import REMAINDER, ArgumentParser
from typing import Any

from gpudash.celery import app
from gpudash.workers.queues import DEFAULT, LAUNCH, USAGE, WATCH
from inventory.management.shown import ShownCommand

#: Process, as docs/team.md names it → the queue that it takes.
PROCESSES = {"watch": WATCH, "launch": LAUNCH, "tasks": DEFAULT, "usage": USAGE}


class Command(ShownCommand):
    help = "Run a background process of a team's deployment. `serve` and `schedule` are the other two."
    #: Checks import every page: 20 MiB and a second of CPU for each worker. `serve` and `migrate` run them.
    requires_system_checks: Any = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("process", choices=tuple(PROCESSES), help="what this worker does")
        parser.add_argument(
            "options", nargs=REMAINDER, metavar="OPTION", help="options of `celery worker`, such as -c 16 (threads)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        process = options["process"]
        words = ["worker", "--queues", PROCESSES[process], "--hostname", f"{process}@%h"]
        # No worker needs to know the others: who does what is in the database.
        words += ["--pool", "threads", "--without-gossip", "--without-mingle"]
        app.worker_main([*words, *options["options"]])
