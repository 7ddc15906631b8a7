"""`gpudash notifications channels|rules|deliveries|silences|test|preview|silence|end-silence`: notifications by command.

Channels and rules are made on pages and by REST: their secrets do not belong into the history of a shell.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta
from typing import Any

import msgspec
from django.core.management.base import CommandError

from inventory.management.shown import ShownCommand, add_output
from notifications import manage, reading, silences
from notifications.matching import in_force
from notifications.models import DeliveryState, Silence
from notifications.silences import SilenceDraft
from runtime.clock import database_now
from validations.planning import Refused
from wording.printable import one_line

_SPAN = re.compile(r"(\d{1,4})([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_PLACES = {
    "cluster": "name of a cluster (default: all)",
    "code": "code of the findings",
    "node": "name of a node",
    "card": "key of a card",
    "pod": "a pod as namespace/name",
}
#: Deliveries that are listed unless another number is given.
LISTED = 20


class Command(ShownCommand):
    help = "Notifications: channels, rules, deliveries and silences."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        for verb in ("channels", "rules", "silences"):
            _output(
                verbs.add_parser(verb, help=f"list the {verb}" + (" that are active" if verb == "silences" else ""))
            )
        log = verbs.add_parser("deliveries", help="list what was sent, newest first")
        log.add_argument("--channel", help="of this channel")
        log.add_argument("--state", choices=DeliveryState.values, help="in this state")
        log.add_argument(
            "--most", type=int, default=LISTED, metavar="N", help=f"most deliveries to list (default: {LISTED})"
        )
        _output(log)
        for verb, what, text in (
            ("test", "channel", "send a test message to a channel"),
            ("preview", "rule", "list what a rule would report now; nothing is sent"),
        ):
            named = verbs.add_parser(verb, help=text)
            named.add_argument("name", metavar=what.upper())
            _output(named)
        made = verbs.add_parser("silence", help="silence findings until an end")
        for name, text in _PLACES.items():
            made.add_argument(f"--{name}", default="", help=text)
        made.add_argument("--for", dest="span", type=_span, required=True, metavar="7d", help="how long: 30m, 8h, 7d")
        made.add_argument("--reason", required=True)
        _output(made)
        ended = verbs.add_parser("end-silence", help="end a silence now")
        ended.add_argument("id", type=int)
        _output(ended)

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['verb'].replace('-', '_')}")(options)

    def _channels(self, options: dict[str, Any]) -> None:
        rows = reading.with_state(list(reading.channels().order_by("name")))
        lines = [
            f"{one_line(row.name)}  {row.kind}  {row.state}"
            + (f" since {row.failing_since:%Y-%m-%d %H:%M} UTC: {one_line(row.answer)}" if row.failing_since else "")
            for row in rows
        ]
        self._show(options, [_channel(row) for row in rows], lines)

    def _rules(self, options: dict[str, Any]) -> None:
        rows = reading.with_places(list(reading.rules().order_by("name")))
        lines = [
            f"{one_line(row.name)}  {', '.join(row.about)}  {row.least_severity}  {one_line(row.channel.name)}"
            f"  {row.digest or 'at once'}" + ("  paused" if row.paused else "")
            for row in rows
        ]
        self._show(options, [_rule(row) for row in rows], lines)

    def _deliveries(self, options: dict[str, Any]) -> None:
        found = reading.deliveries().order_by("-id")
        if options["channel"] is not None:
            found = found.filter(channel=_named(reading.channels(), "channel", options["channel"]))
        if options["state"]:
            found = found.filter(state=options["state"])
        rows = reading.with_names(list(found[: max(1, options["most"])]))
        lines = [
            f"{row.created_at:%Y-%m-%d %H:%M:%S} UTC  {one_line(row.channel.name)}  {row.state}  {one_line(row.title)}"
            f"  {one_line(row.answer)}"
            for row in rows
        ]
        self._show(options, [_delivery(row) for row in rows], lines)

    def _silences(self, options: dict[str, Any]) -> None:
        found = in_force(database_now()).select_related("cluster")
        rows = list(found.order_by("until"))
        self._show(options, [_silence(row) for row in rows], [_told(row) for row in rows])

    def _test(self, options: dict[str, Any]) -> None:
        row = _named(reading.channels(), "channel", options["name"])
        try:
            made = manage.test_channel(row)
        except Refused as error:
            raise CommandError(str(error)) from None
        text = f"{one_line(row.name)}: test message {made.pk} is on its way. See: gpudash notifications deliveries"
        self._show(options, _delivery(reading.with_names([made])[0]), [text])

    def _preview(self, options: dict[str, Any]) -> None:
        row = _named(reading.rules(), "rule", options["name"])
        try:
            topics = manage.preview(manage.rule_draft(row))
        except Refused as error:
            raise CommandError(str(error)) from None
        lines = [f"Would report {len(topics)} topics, {sum(one.loud for one in topics)} findings, cards and nodes."]
        lines += [f"  {one.severity}  {one.loud}  {one_line(one.text)}" for one in topics]
        self._show(options, [msgspec.to_builtins(one) for one in topics], lines)

    def _silence(self, options: dict[str, Any]) -> None:
        places = {name: options[name] for name in _PLACES}
        try:
            row = silences.silence(
                SilenceDraft(**places, reason=options["reason"], until=database_now() + options["span"])
            )
        except Refused as error:
            raise CommandError(str(error)) from None
        self._show(options, _silence(row), [_told(row)])

    def _end_silence(self, options: dict[str, Any]) -> None:
        row = Silence.objects.filter(pk=options["id"]).first() if 0 <= options["id"] < 2**63 else None
        if row is None:
            raise CommandError(f"There is no silence {options['id']}. List them: gpudash notifications silences")
        silences.end(row)
        self._show(options, _silence(row), [f"{row.pk}: ended"])

    def _show(self, options: dict[str, Any], value: Any, lines: list[str]) -> None:
        if options["output"] == "json":
            self.stdout.write(msgspec.json.format(msgspec.json.encode(value)).decode())
        for line in lines if options["output"] == "text" else ():
            self.stdout.write(line)


def _output(parser: ArgumentParser) -> None:
    add_output(parser)


def _span(text: str) -> timedelta:
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ArgumentTypeError("must be minutes, hours or days, such as 30m, 8h or 7d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _named(rows: Any, what: str, name: str) -> Any:
    row = rows.filter(name=name.replace("\0", "")).first()
    if row is None:
        names = ", ".join(rows.order_by("name").values_list("name", flat=True)[:20])
        raise CommandError(f"There is no {what} {name!r}. There are: {names or 'none'}.")
    return row


def _channel(row: Any) -> dict[str, Any]:
    names = ("name", "kind", "settings", "secrets", "state", "paused", "failing_since", "answer", "delivered_at")
    return {"id": row.pk, **{name: getattr(row, name) for name in names}}


def _rule(row: Any) -> dict[str, Any]:
    names = (
        "name",
        "about",
        "codes",
        "least_severity",
        "scope",
        "digest",
        "digest_hour",
        "time_zone",
        "paused",
        "told_at",
    )
    return {"id": row.pk, "channel": row.channel.name, **{name: getattr(row, name) for name in names}}


def _delivery(row: Any) -> dict[str, Any]:
    names = ("title", "topics", "test", "state", "tries", "answer", "answers", "created_at", "ended_at")
    found = {name: getattr(row, name) for name in names}
    return {"id": row.pk, "channel": row.channel.name, "rule": row.rule_name or None, "next_at": row.tried_at, **found}


def _silence(row: Silence) -> dict[str, Any]:
    return {
        "id": row.pk,
        "finding": row.finding,
        "cluster": row.cluster.name if row.cluster else None,
        "code": row.code or None,
        "cause": row.cause or None,
        "node": row.node_name or None,
        "card": row.card_key or None,
        "pod": row.pod or None,
        "reason": row.reason,
        "created_by": row.created_by_name or None,
        "until": row.until,
        "ended_at": row.ended_at,
    }


def _told(row: Silence) -> str:
    cluster = row.cluster.name if row.cluster else "all clusters"
    place = " ".join(part for part in (cluster, row.code, row.node_name, row.card_key, row.pod) if part)
    return f"{row.pk}  {one_line(place)}  until {row.until:%Y-%m-%d %H:%M} UTC  {one_line(row.reason)}"
