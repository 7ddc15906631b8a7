"""`gpudash out-of-service list|accept|decline|return|marks|switch|reset`: cases of cards and nodes on the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from quarantine import manage, reading
from quarantine.models import Case, How, QuarantineSwitch
from quarantine.planned import Plan
from quarantine.reading import MarkedNode
from validations.planning import Refused
from wording.printable import one_line

_ACTS = ("accept", "decline", "return")


class Command(ShownCommand):
    help = "Cards and nodes out of service: what is recommended, taken out and returned."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listed = verbs.add_parser("list", help="open cases")
        listed.add_argument("--all", action="store_true", help="ended cases too")
        listed.add_argument("--cluster", help="name of a cluster (default: all)")
        _output(listed)
        marks = verbs.add_parser("marks", help="marked GPU nodes: by which tool and why")
        marks.add_argument("--cluster", help="name of a cluster (default: all)")
        _output(marks)
        for verb, text in (
            ("accept", "take a recommended card or node out of service"),
            ("decline", "keep it in service"),
            ("return", "return it to service without a pass"),
        ):
            act = verbs.add_parser(verb, help=text)
            act.add_argument("case", help="ID of the case")
            act.add_argument("--note", default="", help="reason" + (" (required)" if verb == "return" else ""))
            if verb == "accept":
                act.add_argument("--how", default="", choices=How.values, help="mark (default: as the cluster is set)")
            if verb != "decline":
                act.add_argument("--dry-run", action="store_true", help="print what would be done; change nothing")
            _output(act)
        switch = verbs.add_parser("switch", help="allow or forbid policies to take cards out of service automatically")
        switch.add_argument("automatic", nargs="?", choices=("on", "off"))
        switch.add_argument(
            "--cap",
            type=int,
            metavar="PERCENT",
            help="most nodes of a pool that policies take out of service, in percent",
        )
        _output(switch)
        _output(verbs.add_parser("reset", help="let policies act again after the cap was reached"))

    def handle(self, *args: Any, **options: Any) -> None:
        verb = str(options["verb"])
        self._as_json = options["output"] == "json"
        if verb in _ACTS:
            self._act(verb, options)
        else:
            getattr(self, f"_{verb}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = (reading.cases() if options["all"] else reading.open_cases()).order_by("-id")
        if options["cluster"]:
            rows = rows.filter(cluster__name=options["cluster"].replace("\0", ""))
        if self._as_json:
            self._json([_told(row) for row in rows])
            return
        for row in rows:
            place = f"{row.cluster.name}/{row.node_name}" + (f" card {row.card_key}" if row.card_key else "")
            self.stdout.write(f"{row.pk}  {row.state}  {one_line(place)}  {one_line(row.reason)}")

    def _marks(self, options: dict[str, Any]) -> None:
        found = [one for one in reading.marked_nodes() if options["cluster"] in (None, one.cluster.name)]
        if self._as_json:
            self._json([_marked(one) for one in found])
            return
        for one in found:
            marks = ", ".join(f"{mark.tool or 'unknown'}: {mark.key or mark.kind}" for mark in one.marks)
            self.stdout.write(f"{one_line(f'{one.cluster.name}/{one.node.name}')}  {one_line(marks)}")

    def _act(self, verb: str, options: dict[str, Any]) -> None:
        row = _case(options["case"])
        try:
            if options.get("dry_run"):
                plan = manage.plan_accept(row, options["how"]) if verb == "accept" else manage.plan_return(row)
                self._planned(plan)
                return
            _do(verb, row, options)
        except Refused as error:
            raise CommandError(str(error)) from None
        if self._as_json:
            self._json(_told(_case(row.pk)))
        else:
            self.stdout.write(f"{row.pk}: {row.state}")

    def _planned(self, plan: Plan) -> None:
        if self._as_json:
            self._json(_plan(plan))
            return
        for text in plan.does:
            self.stdout.write(text)
        if plan.waits:
            self.stdout.write(f"Blocked by: {plan.waits}")
        if plan.off:
            self.stdout.write("gpudash has no permission to mark nodes in this cluster. Run:")
        for line in plan.commands:
            self.stdout.write(f"  {line}")

    def _switch(self, options: dict[str, Any]) -> None:
        automatic = None if options["automatic"] is None else options["automatic"] == "on"
        try:
            row = (
                manage.switch()
                if automatic is None and options["cap"] is None
                else manage.change_switch(automatic=automatic, cap_percent=options["cap"])
            )
        except Refused as error:
            raise CommandError(str(error)) from None
        self._switched(row)

    def _reset(self, options: dict[str, Any]) -> None:
        self._switched(manage.reset())

    def _switched(self, row: QuarantineSwitch) -> None:
        if self._as_json:
            names = ("automatic", "cap_percent", "tripped_at")
            self._json({name: getattr(row, name) for name in names} | {"tripped_reason": row.tripped_reason or None})
            return
        self.stdout.write(f"automatic: {'on' if row.automatic else 'off'}, cap: {row.cap_percent}%")
        if row.tripped_at:
            self.stdout.write(f"Stopped {row.tripped_at:%Y-%m-%d %H:%M} UTC: {row.tripped_reason}")

    def _json(self, value: Any) -> None:
        self.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode())


def _output(parser: ArgumentParser) -> None:
    add_output(parser)


def _do(verb: str, row: Case, options: dict[str, Any]) -> None:
    if verb == "accept":
        manage.accept(row, note=options["note"], how=options["how"])
    elif verb == "decline":
        manage.decline(row, note=options["note"])
    else:
        manage.give_back(row, note=options["note"])


def _case(case_id: str) -> Case:
    row = reading.cases().of_id(case_id)
    if row is None:
        raise CommandError(f"There is no case {case_id[:64]!r}. `gpudash out-of-service list` lists them.")
    return row


def _plan(plan: Plan) -> dict[str, Any]:
    """Names as REST has them."""
    return {
        "does": [str(text) for text in plan.does],
        "commands": list(plan.commands),
        "body": plan.body,
        "blocked_by": str(plan.waits) or None,
        "by_gpudash": not plan.off,
    }


def _told(row: Case) -> dict[str, Any]:
    """Names as REST has them."""
    texts = {
        "card": row.card_key,
        "run": row.run_id,
        "policy": row.policy.name if row.policy else None,
        "accepted_by": row.accepted_by_name,
        "return_reason": row.return_reason,
        "blocked_by": row.waits,
        "error": row.error,
    }
    return {
        "id": row.pk,
        "cluster": row.cluster.name,
        "node": row.node_name,
        "state": row.state,
        "state_since": row.state_since,
        "what": row.what,
        "how": row.how,
        "suite": row.suite,
        "reason": row.reason,
        "automatic": row.automatic,
        "accepted_at": row.accepted_at,
        "marked_at": row.marked_at,
        "returned_at": row.returned_at,
    } | {name: value or None for name, value in texts.items()}


def _marked(one: MarkedNode) -> dict[str, Any]:
    return {
        "cluster": one.cluster.name,
        "node": one.node.name,
        "out": one.blocked,
        "marks": list(one.marks),
        "cases": [case.pk for case in one.cases],
        "cards": one.cards,
        "memory_bytes": one.memory_bytes,
    }
