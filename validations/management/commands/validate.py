"""`gpudash validate SUITE --node N`: launch a run, and with --wait follow it to its verdict. For a person and for a pipeline."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand
from runtime.clock import database_now
from validations.management.pairs import pairs
from validations.models import Measurement, Run
from validations.planning import Refused, RunDraft, cautions
from validations.requests import Busy, request_run
from validations.suites import find, registry
from validations.waiting import tell
from wording.printable import one_line

NOT_PASSED, NOT_LAUNCHED = 1, 2
#: What a pass of each level says of the card.
LEVELS = {
    "checked": "result checked; the card is validated.",
    "ran": "ran, result not checked; the card is not validated.",
    "detected": "detected only; the card is not validated.",
    "none": "proves nothing.",
}
#: After so long without a reason (no slot, no launch worker) something keeps the queue from being read.
NOBODY_S = 30.0


class Command(ShownCommand):
    help = "Launch a validation run. With --wait, the exit code is 0 only if the run passed."
    #: Seconds between two looks at the row.
    poll_s = 1.0

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("suite", help=", ".join(registry()))
        parser.add_argument("--node", action="append", default=[], help="node; repeat for a suite of several nodes")
        parser.add_argument("--pool", default="", help="for a suite of several nodes: idle nodes of this pool")
        parser.add_argument("--nodes", type=int, default=0, metavar="N", help="with --pool: how many")
        parser.add_argument(
            "--card", default="", metavar="I", help="index, UUID or key (default: any card of the node)"
        )
        parser.add_argument("--cluster", default="", help="required if there are several clusters")
        parser.add_argument(
            "--option", action="append", default=[], metavar="K=V", help="option of the suite; may be repeated"
        )
        parser.add_argument("--when-busy", action="store_true", help="queue the run if the node is full or not ready")
        parser.add_argument("--wait", action="store_true", help="wait for the verdict")
        parser.add_argument(
            "--timeout", type=float, metavar="S", help="with --wait: stop waiting after S seconds; the run continues"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found, names = find(options["suite"]), options["node"]
        several = (found is not None and found.nodes > 1) or len(names) > 1
        if not names and not options["pool"]:
            raise CommandError("--node is missing", returncode=NOT_LAUNCHED)
        draft = RunDraft(
            suite=options["suite"],
            node="" if several else "".join(names),
            nodes=names if several else [],
            pool=options["pool"],
            node_count=options["nodes"],
            cluster=options["cluster"],
            card=options["card"],
            options=pairs(options["suite"], options["option"], NOT_LAUNCHED),
            queue_if_full=options["when_busy"],
        )
        try:
            run, _ = request_run(draft)
        except (Refused, Busy) as error:
            raise CommandError(str(error), returncode=NOT_LAUNCHED) from None
        self.stdout.write(f"{run.pk} {run.suite} on {one_line(run.target_text)}")
        for one in cautions(run):
            self.stderr.write(f"warning: {one_line(one.text)}")
        if options["wait"]:
            self._wait(run, options["timeout"])

    def _wait(self, run: Run, timeout_s: float | None) -> None:
        """Print each change until the end. Interrupting it leaves the run alone."""
        started, told = time.monotonic(), ""
        while run.active:
            told = self._tell(run, told)
            waited = time.monotonic() - started
            if timeout_s is not None and waited > timeout_s:
                raise CommandError(
                    f"{run.pk} is still {run.state} after {timeout_s:g} s; the run continues", returncode=NOT_LAUNCHED
                )
            time.sleep(self.poll_s)
            run.refresh_from_db()
        self._result(run)
        if run.verdict != "passed":
            sys.exit(NOT_PASSED)

    def _tell(self, run: Run, told: str) -> str:
        tell([run])
        text = run.get_state_display()
        waits = ": ".join(part for part in (run.pending_reason, run.pending_message) if part)
        why = "; ".join(dict.fromkeys(part for part in (run.last_error, waits) if part))
        if run.state == "queued" and not why and (database_now() - run.created_at).total_seconds() > NOBODY_S:
            why = "still queued, no reason recorded. gpudash cluster list shows whether schedule, tasks and launch run."
        text += f" ({one_line(why)})" if why else ""
        if text != told:
            self.stdout.write(f"  {text}")
        return text

    def _result(self, run: Run) -> None:
        self.stdout.write(f"{run.verdict}")
        if run.level:
            means = LEVELS[run.level] if run.node_name else "of the group; no card is validated."
            self.stdout.write(f"  level {run.level}: {means}" + (f" {run.level_note}" if run.level_note else ""))
        for reason in run.reasons:
            where = f" (line {reason['line']})" if reason.get("line") is not None else ""
            self.stdout.write(f"  {reason['code']}: {one_line(reason['text'])}{where}")
        for one in Measurement.objects.filter(run=run).order_by("id"):
            self.stdout.write(f"  {one.name} = {one.value:g} {one.unit}")
