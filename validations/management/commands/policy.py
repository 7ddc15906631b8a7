"""`gpudash policy list|show|create|pause|resume|take-out|pause-all|resume-all|preview|remove|compare`: policies by command."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from inventory.models import Cluster
from runtime.clock import database_now
from validations.management.pairs import pairs
from validations.models import Policy, PolicySwitch
from validations.planning import Refused
from validations.policies import compare, losses, manage, plan, reading, rules
from validations.policies.compare import Group
from validations.policies.losses import Detail
from validations.policies.manage import PolicyDraft
from validations.policies.measured import Moved
from validations.policies.plan import Preview
from validations.policies.reading import Counts
from wording.printable import one_line

_AGE = re.compile(r"(\d{1,4})([dh])")
#: Field of the draft → help of its option. Fields of yes and no have an option each way.
_TEXTS = {
    "level": "least test level of a pass: checked, ran or detected",
    "cluster": "name of a cluster (default: all)",
    "pool": "name of a pool (default: all)",
    "model": "card model (default: all)",
    "stack": "stack (default: all)",
    "time_zone": "time zone of the windows (default: UTC)",
}
_NUMBERS = {
    "max_per_cluster": "parallel runs per cluster (default: 4)",
    "max_per_pool": "parallel runs per pool (default: no limit)",
    "card_minutes_per_day": "minutes of runs per card in 24 h (default: no limit)",
    "keep_free_nodes": "free nodes that each pool keeps",
    "keep_free_cards": "free cards that each pool keeps",
}
_YES_NO = {
    "void_on_driver": "another driver voids a pass (default: yes)",
    "void_on_reboot": "a reboot voids a pass (default: no)",
    "void_on_machine": "another machine voids a pass (default: yes)",
    "void_on_image": "another image or parser voids a pass (default: yes)",
    "counts_imported": "results of other tools count (default: no)",
}


class Command(ShownCommand):
    help = "Policies: what must stay validated, and the state of their cards."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        for verb, text in (("list", "list the policies"), ("pause-all", "no policy starts runs"), ("resume-all", "")):
            _output(verbs.add_parser(verb, help=text or "the policies start runs again"))
        for verb, text in (
            ("show", "one policy with its plan"),
            ("pause", "start no more runs; active runs continue"),
            ("resume", "start runs again"),
            ("remove", "delete a policy; its runs stay"),
        ):
            named = verbs.add_parser(verb, help=text)
            named.add_argument("name")
            _output(named)
        takes = verbs.add_parser("take-out", help="whether it takes failed cards out of service without asking")
        takes.add_argument("name")
        takes.add_argument("takes_out", choices=("on", "off"))
        _output(takes)
        for verb, text in (
            ("create", "create a policy"),
            ("preview", "count what a policy would test; nothing is written"),
        ):
            made = verbs.add_parser(verb, help=text)
            made.add_argument("name", nargs="?" if verb == "preview" else None, default="preview")
            made.add_argument("--suite", required=True)
            _fields(made)
            _output(made)
        _of_comparison(
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
            row = manage.create(_draft(options))
        except Refused as error:
            raise CommandError(str(error)) from None
        self._done(options, row, "created")

    def _preview(self, options: dict[str, Any]) -> None:
        try:
            found = plan.preview(manage.row_of(_draft(options)), database_now())
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
        cards = [_with_cluster(one, names) for one in losses.details(rows or [])]
        if options["output"] == "json":
            told = {name: getattr(found, name) for name in ("by", "before", "after", "lost", "groups_compared")}
            groups = [_with_cluster(one, names) for one in found.groups]
            numbers = [_with_cluster(one, names) for one in found.measurements]
            self._json(told | {"groups": groups, "measurements": numbers, "cards": cards})
            return
        for side in (found.before, found.after):
            self.stdout.write(one_line(f"{side.name}: {_counted(side.counts)}"))
        self.stdout.write(f"compared: {found.groups_compared} of {len(found.groups)} groups have both sides")
        for group in found.groups:
            place = " ".join(part or "-" for part in (names[group.cluster_id], group.pool, group.model))
            self.stdout.write(one_line(f"  {place}: {_counted(group.before)} -> {_counted(group.after)}"))
        for number in found.measurements[: options["limit"]]:
            self.stdout.write(one_line("  " + _moved(number, names[number.cluster_id])))
        lost = found.lost
        self.stdout.write(f"lost: {lost.failed} failed, {lost.slower} slower, {lost.not_tested} not tested")
        for one in cards:
            self.stdout.write(one_line("  " + _in_words(one)))

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


def _of_comparison(parser: ArgumentParser) -> None:
    parser.add_argument("--by", choices=compare.WAYS, default=compare.DRIVER, help="what a and b are (default: driver)")
    parser.add_argument("--a", required=True, metavar="BEFORE", help="version, image, or day YYYY-MM-DD (UTC)")
    parser.add_argument("--b", required=True, metavar="AFTER", help="the same")
    for name in ("cluster", "pool", "model"):
        parser.add_argument(f"--{name}", action="append", default=[], help="may be repeated (default: all)")
    parser.add_argument("--policy", help="name of a policy (default: all together)")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="cards to list (default: 20)")
    _output(parser)


def _counted(counts: Counts | None) -> str:
    if counts is None:
        return "-"
    return (
        f"{counts.valid} of {counts.cards} valid, {counts.due} due, {counts.failed} failed, {counts.excluded} excluded"
    )


def _with_cluster(one: Detail | Group | Moved, names: dict[int, str]) -> dict[str, Any]:
    """With the name of its cluster for the id."""
    told = msgspec.structs.asdict(one)
    return {"cluster": names[told.pop("cluster_id")], **told}


def _moved(one: Moved, cluster: str) -> str:
    place = " ".join(part or "-" for part in (cluster, one.pool, one.model, one.suite, one.name))
    medians = f"{one.before.median:g} -> {one.after.median:g} {one.unit}"
    if one.percent is None:
        return f"{one.judged}  {place}: {medians}, {one.cards} cards"
    odd = ", ".join(f"{card.node} {card.card} ({card.percent:+.0f}%)" for card in one.outliers[:3])
    return (
        f"{one.judged}  {place}: {medians}, {one.percent:+.1f}% time, {one.slower} of {one.cards} cards slower, "
        f"by chance {one.chance:.1g}{f'; outliers: {odd}' if odd else ''}"
    )


def _in_words(card: dict[str, Any]) -> str:
    text = f"{card['lost']}  {card['cluster']}/{card['node']} card {card['card']}  {card['suite']}"
    if card["measurement"] is None:
        return text
    return (
        f"{text}  {card['measurement']} {card['value_before']:g} -> {card['value_after']:g} {card['unit']}, "
        f"{card['slower_percent']:.0f}% slower"
    )


def _output(parser: ArgumentParser) -> None:
    add_output(parser)


def _fields(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--option", action="append", default=[], metavar="K=V", help="option of the suite; may be repeated"
    )
    parser.add_argument("--node-label", action="append", default=[], metavar="K=V", help="may be repeated")
    parser.add_argument(
        "--max-age", type=_age, dest="max_age_s", metavar="7d", help="a pass is valid for: 7d, 36h (default: 7d)"
    )
    parser.add_argument(
        "--window", dest="window_cron", metavar="CRON", help="start of each window: '0 22 * * *' (default: any time)"
    )
    parser.add_argument("--window-hours", type=_minutes, dest="window_minutes", metavar="8", help="length of a window")
    for name, text in _TEXTS.items():
        parser.add_argument(_flag(name), dest=name, help=text)
    for name, text in _NUMBERS.items():
        parser.add_argument(_flag(name), dest=name, type=int, metavar="N", help=text)
    for name, text in _YES_NO.items():
        parser.add_argument(_flag(name), dest=name, choices=("yes", "no"), help=text)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _draft(options: dict[str, Any]) -> PolicyDraft:
    """What is not given has its default."""
    names = (*_TEXTS, *_NUMBERS, "max_age_s", "window_cron", "window_minutes")
    given = {name: options[name] for name in names if options[name] is not None}
    given |= {name: options[name] == "yes" for name in _YES_NO if options[name] is not None}
    labels = dict(_label(text) for text in options["node_label"])
    suite = options["suite"]
    return PolicyDraft(
        name=options["name"], suite=suite, options=pairs(suite, options["option"]), node_labels=labels, **given
    )


def _age(text: str) -> int:
    """Seconds."""
    found = _AGE.fullmatch(text)
    if found is None:
        raise ArgumentTypeError("must be days or hours, such as 7d or 36h")
    return int(found[1]) * {"d": 86_400, "h": 3600}[found[2]]


def _minutes(text: str) -> int:
    """Of hours."""
    try:
        return round(float(text) * 60)
    except (ValueError, OverflowError):
        raise ArgumentTypeError("must be a number of hours") from None


def _label(text: str) -> tuple[str, str]:
    label, equals, value = text.partition("=")
    if not equals:
        raise CommandError(f"--node-label {text!r}: must be KEY=VALUE")
    return label, value


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
