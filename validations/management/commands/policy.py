"""`gpudash policy list|show|create|pause|resume|take-out|pause-all|resume-all|preview|remove|compare`: policies by command."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from inventory.models import Cluster
from runtime.clock import database_now
from validations.management.policy_comparison import add_comparison, counted_text, loss_text, moved_text, with_cluster
from validations.management.policy_fields import add_fields, draft_of_options
from validations.models import Policy, PolicySwitch
from validations.planning import Refused
from validations.policies import compare, losses, manage, plan, reading, rules
from validations.policies.plan import Preview
from wording.printable import one_line


class Command(ShownCommand):
    help = "Policies: what must stay validated, and the state of their cards."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        for verb, text in (("list", "list the policies"), ("pause-all", "no policy starts runs"), ("resume-all", "")):
            add_output(verbs.add_parser(verb, help=text or "the policies start runs again"))
        for verb, text in (
            ("show", "one policy with its plan"),
            ("pause", "start no more runs; active runs continue"),
            ("resume", "start runs again"),
            ("remove", "delete a policy; its runs stay"),
        ):
            named = verbs.add_parser(verb, help=text)
            named.add_argument("name")
            add_output(named)
        takes = verbs.add_parser(
            "take-out", help="allow or forbid the policy to take failed cards out of service automatically"
        )
        takes.add_argument("name")
        takes.add_argument("takes_out", choices=("on", "off"))
        add_output(takes)
        for verb, text in (
            ("create", "create a policy"),
            ("preview", "count what a policy would test; nothing is written"),
        ):
            made = verbs.add_parser(verb, help=text)
            made.add_argument("name", nargs="?" if verb == "preview" else None, default="preview")
            made.add_argument("--suite", required=True)
            add_fields(made)
            add_output(made)
        add_comparison(
            verbs.add_parser(
                "compare",
                help="compare before and after of a change: which cards lost what, and by how much measurements moved",
            )
        )

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb'].replace('-', '_')}")(options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = reading.with_now(list(reading.policies().order_by("name")))
        if options["output"] == "json":
            self._json([_told(row) for row in rows])
            return
        if PolicySwitch.all_paused():
            self.stdout.write("All policies are paused.")
        for row in rows:
            counts = row.states
            states = f"{counts.valid} of {counts.cards} valid, {counts.due} due, {counts.failed} failed"
            self.stdout.write(f"{one_line(row.name)}  {row.suite}  {states}  {_now(row)}")

    def _show(self, options: dict[str, Any]) -> None:
        [row] = reading.with_now([_named(options["name"])])
        windows = plan.plan(row, database_now())
        if options["output"] == "json":
            self._json(_told(row) | {"windows": windows})
            return
        for name, value in msgspec.structs.asdict(manage.draft_of(row)).items():
            self.stdout.write(f"{name}: {one_line(str('-' if value in (None, '', {}) else value))}")
        for state in reading.STATES:
            self.stdout.write(f"{state}: {getattr(row.states, state)}")
        for reason, number in row.states.reasons.items():
            self.stdout.write(f"  {number} {reason}")
        self.stdout.write(f"now: {one_line(_now(row))}")
        for one in windows:
            self.stdout.write(
                f"window: {one.start:%Y-%m-%d %H:%M} to {one.end:%Y-%m-%d %H:%M} UTC, {one.cards} cards due"
            )

    def _create(self, options: dict[str, Any]) -> None:
        try:
            row = manage.create(draft_of_options(options))
        except Refused as error:
            raise CommandError(str(error)) from None
        self._done(options, row, "created")

    def _preview(self, options: dict[str, Any]) -> None:
        try:
            found = plan.preview(manage.row_of(draft_of_options(options)), database_now())
        except Refused as error:
            raise CommandError(str(error)) from None
        except rules.NoRule as error:
            raise CommandError(f"No suite {error}.") from None
        if options["output"] == "json":
            self._json(_previewed(found))
            return
        self.stdout.write(f"Covers {found.cards} cards. Would test {found.due}, {found.now} now.")
        for (state, reason), number in found.reasons.items():
            self.stdout.write(f"  {state}: {number} {reason}")

    def _compare(self, options: dict[str, Any]) -> None:
        given = {name: value if isinstance(value, list) else [value or ""] for name, value in options.items()}
        if options["policy"]:
            given["policy"] = [_named(options["policy"]).pk]
        try:
            found = compare.compare(compare.read({name: given[name] for name in compare.NAMES}))
        except Refused as error:
            raise CommandError(str(error)) from None
        rows, _ = losses.page(found.losses, "", "", options["limit"])
        names = dict(Cluster.objects.values_list("pk", "name"))
        cards = [with_cluster(one, names) for one in losses.details(rows or [])]
        if options["output"] == "json":
            told = {name: getattr(found, name) for name in ("by", "before", "after", "lost", "groups_compared")}
            groups = [with_cluster(one, names) for one in found.groups]
            numbers = [with_cluster(one, names) for one in found.measurements]
            self._json(told | {"groups": groups, "measurements": numbers, "cards": cards})
            return
        for side in (found.before, found.after):
            self.stdout.write(one_line(f"{side.name}: {counted_text(side.counts)}"))
        self.stdout.write(f"compared: {found.groups_compared} of {len(found.groups)} groups have both sides")
        for group in found.groups:
            place = " ".join(part or "-" for part in (names[group.cluster_id], group.pool, group.model))
            self.stdout.write(one_line(f"  {place}: {counted_text(group.before)} -> {counted_text(group.after)}"))
        for number in found.measurements[: options["limit"]]:
            self.stdout.write(one_line("  " + moved_text(number, names[number.cluster_id])))
        lost = found.lost
        self.stdout.write(f"lost: {lost.failed} failed, {lost.slower} slower, {lost.not_tested} not tested")
        for one in cards:
            self.stdout.write(one_line("  " + loss_text(one)))

    def _pause(self, options: dict[str, Any]) -> None:
        row = _named(options["name"])
        manage.pause(row, True)
        self._done(options, row, "paused")

    def _resume(self, options: dict[str, Any]) -> None:
        row = _named(options["name"])
        manage.pause(row, False)
        self._done(options, row, "resumed")

    def _take_out(self, options: dict[str, Any]) -> None:
        row = _named(options["name"])
        manage.take_out(row, options["takes_out"] == "on")
        self._done(options, row, "takes failed cards out" if row.takes_out else "takes no cards out")

    def _remove(self, options: dict[str, Any]) -> None:
        row = _named(options["name"])
        manage.remove(row)
        if options["output"] == "json":
            self._json({"removed": row.name})
        else:
            self.stdout.write(f"{one_line(row.name)}: removed")

    def _pause_all(self, options: dict[str, Any]) -> None:
        self._switch(options, True)

    def _resume_all(self, options: dict[str, Any]) -> None:
        self._switch(options, False)

    def _switch(self, options: dict[str, Any], paused: bool) -> None:
        manage.pause_all(paused)
        if options["output"] == "json":
            self._json({"paused": paused})
        else:
            self.stdout.write("All policies are paused." if paused else "The policies start runs again.")

    def _done(self, options: dict[str, Any], row: Policy, what: str) -> None:
        if options["output"] == "json":
            self._json(_told(reading.with_now([row])[0]))
        else:
            self.stdout.write(f"{one_line(row.name)}: {what}")

    def _json(self, value: Any) -> None:
        self.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode())


def _named(name: str) -> Policy:
    row = reading.policies().select_related("cluster").filter(name=name.replace("\0", "")).first()
    if row is None:
        names = ", ".join(reading.policies().order_by("name").values_list("name", flat=True)[:20])
        raise CommandError(f"There is no policy {name!r}. Policies: {names or 'none'}.")
    return row


def _now(row: Any) -> str:
    """row: as `reading.with_now` gives it."""
    if row.paused:
        return "paused"
    if row.evaluated_at is None:
        return "not checked yet"
    if row.opens_at is not None:
        return f"next window {row.opens_at:%Y-%m-%d %H:%M} UTC"
    return str(row.held) or f"{row.states.running} running"


def _told(row: Any) -> dict[str, Any]:
    draft = msgspec.structs.asdict(manage.draft_of(row))
    states = {name: getattr(row.states, name) for name in reading.STATES}
    return {
        "id": row.pk,
        **draft,
        "takes_out": row.takes_out,
        "paused": row.paused,
        "requested_by": row.requested_by_name or None,
        "evaluated_at": row.evaluated_at,
        "next_window_at": row.opens_at,
        "blocked_by": row.held or None,
        "cards": row.states.cards,
        **states,
        "excluded_by_reason": row.states.reasons,
    }


def _previewed(found: Preview) -> dict[str, Any]:
    reasons = [{"state": one[0], "reason": one[1], "cards": number} for one, number in found.reasons.items()]
    return msgspec.structs.asdict(found) | {"reasons": reasons}
