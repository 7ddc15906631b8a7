"""Channels and rules are made, changed and deleted here, by form, REST and command alike. Each act is in the audit log, with what it
was before and after; of a secret, only that it was changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

import msgspec
from django.conf import settings
from django.db import IntegrityError

from accounts.scopes import BadScope, places_in
from audit.actions import Action
from audit.acts import act
from inventory.catalogue import CATALOGUE
from inventory.models.choices import Severity
from notifications.channels import BY_NAME
from notifications.channels.engine import Kind
from notifications.compose import test_message
from notifications.deliver import PURPOSE
from notifications.models import UNDER_WAY, Channel, Delivery, Digest, Rule, Told
from notifications.topics import BY_NAME as ABOUT
from notifications.topics import topics_of
from notifications.topics.topic import Topic
from runtime.clock import database_now
from runtime.sealed import WrongKey, seal, unseal
from validations.ids import new_id
from validations.planning import Refused
from wording.said import Said, quote, sentence

LONGEST_NAME, LONGEST_SETTING = 100, 2000
Problems = dict[str, list[Any]]
#: Columns that a change writes; those of deliveries belong to who delivers.
_OF_CHANNEL = ("name", "settings", "sealed", "language", "changed_at", "gone", "failing_since")
_OF_RULE = (
    *("name", "channel", "about", "codes", "least_severity", "places", "digest", "digest_hour", "time_zone"),
    "changed_at",
)


class ChannelDraft(msgspec.Struct, frozen=True, kw_only=True):
    """settings: by name, secrets among them; a secret that is left out or "" stays as it is."""

    name: str
    kind: str
    settings: dict[str, str] = {}
    language: str = "en"

    def __repr__(self) -> str:
        return f"ChannelDraft({self.name!r}, {self.kind!r})"


class RuleDraft(msgspec.Struct, frozen=True, kw_only=True):
    """channel: its name. about: names of `notifications.topics.KINDS`. places: as of a scope, one in a line."""

    name: str
    channel: str
    about: list[str]
    codes: list[str] = []
    least_severity: str = Severity.WARNING.value
    places: str = ""
    digest: str = ""
    digest_hour: int = 8
    time_zone: str = "UTC"


def create_channel(draft: ChannelDraft, user: Any = None) -> Channel:
    """Raises Refused, with all problems at once."""
    row = _channel(Channel(), draft, {})
    row.created_by_name = user.get_username() if user else ""
    row.created_at = row.changed_at = database_now()
    try:
        with act(Action.CHANNEL_CREATE, row.name, id=row.pk, kind=row.kind):
            row.save(force_insert=True)
    except IntegrityError:
        raise _taken("channel", draft.name) from None
    return row


def change_channel(row: Channel, draft: ChannelDraft) -> Channel:
    """A channel that is changed may be tried again. Its kind stays. Raises Refused."""
    before, known = _public(row), secrets_of(row)
    if draft.kind != row.kind:
        raise Refused({"kind": [sentence("The type of a channel cannot be changed. Create another channel.")]})
    sealed = row.sealed
    row = _channel(row, draft, known)
    row.changed_at, row.gone, row.failing_since = database_now(), False, None
    after = _public(row)
    told = {name: f"{before.get(name, '')} → {value}" for name, value in after.items() if before.get(name, "") != value}
    if secrets_of(row) != known:
        told["secrets"] = "changed"
    else:
        row.sealed = sealed
    try:
        with act(Action.CHANNEL_CHANGE, row.name, id=row.pk, **told):
            row.save(update_fields=_OF_CHANNEL)
    except IntegrityError:
        raise _taken("channel", draft.name) from None
    return row


def remove_channel(row: Channel) -> None:
    """With its rules and its delivery log."""
    with act(Action.CHANNEL_REMOVE, row.name, id=row.pk, kind=row.kind, rules=row.rules.count()):
        row.delete()


def pause_channel(row: Channel, paused: bool) -> None:
    """A paused channel gets nothing; what holds then is sent when it resumes."""
    with act(Action.CHANNEL_CHANGE, row.name, id=row.pk, paused=f"{not paused} → {paused}") as changed:
        if (
            not Channel.objects.filter(pk=row.pk)
            .exclude(paused=paused)
            .update(paused=paused, changed_at=database_now())
        ):
            changed.nothing()
    row.paused = paused


def test_channel(row: Channel) -> Delivery:
    """A message that is sent at once, once. Raises Refused where this version has no such kind of channel."""
    kind, at = _kind(row.kind), database_now()
    delivery = Delivery(pk=new_id(at), channel=row, test=True, topics=1, created_at=at, next_at=at)
    message = test_message(delivery.pk, row, kind, at)
    delivery.title, delivery.message = message.title[:300], msgspec.to_builtins(message)
    with act(Action.CHANNEL_TEST, row.name, id=row.pk):
        delivery.save(force_insert=True)
    return delivery


def send_again(row: Delivery) -> Delivery:
    """A new delivery of the same message, whose id stays: a receiver that has it drops it. Raises Refused while it is on its way."""
    if row.state in UNDER_WAY:
        raise Refused({"": [sentence("The message is on its way.")]})
    at = database_now()
    copy = Delivery(
        pk=new_id(at), channel=row.channel, rule=row.rule, title=row.title, topics=row.topics, test=row.test
    )
    copy.message, copy.created_at, copy.next_at = row.message, at, at
    with act(Action.CHANNEL_TEST, row.channel.name, id=row.channel_id, again=row.pk):
        copy.save(force_insert=True)
    return copy


def create_rule(draft: RuleDraft, user: Any = None) -> Rule:
    """What holds at this moment is sent first. Raises Refused."""
    row = rule_of(draft)
    row.created_by_name = user.get_username() if user else ""
    row.created_at = row.changed_at = database_now()
    try:
        with act(Action.RULE_CREATE, row.name, id=row.pk, **_told(row)):
            row.save(force_insert=True)
    except IntegrityError:
        raise _taken("rule", draft.name) from None
    return row


def change_rule(row: Rule, draft: RuleDraft) -> Rule:
    """What was sent stays sent. What the rule is no longer about is forgotten without a message. Raises Refused."""
    before = _told(row)
    row = rule_of(draft, row)
    row.changed_at = database_now()
    after = _told(row)
    changes = {name: f"{before[name]} → {after[name]}" for name in after if before[name] != after[name]}
    keys = {topic.key for topic in topics_of(row, row.changed_at)}
    try:
        with act(Action.RULE_CHANGE, row.name, id=row.pk, **changes) as changed:
            row.save(update_fields=_OF_RULE)
            Told.objects.filter(rule=row, gone_at=None).exclude(topic__in=keys).delete()
            if not changes:
                changed.nothing()
    except IntegrityError:
        raise _taken("rule", draft.name) from None
    return row


def pause_rule(row: Rule, paused: bool) -> None:
    with act(Action.RULE_CHANGE, row.name, id=row.pk, paused=f"{not paused} → {paused}") as changed:
        if not Rule.objects.filter(pk=row.pk).exclude(paused=paused).update(paused=paused, changed_at=database_now()):
            changed.nothing()
    row.paused = paused


def remove_rule(row: Rule) -> None:
    with act(Action.RULE_REMOVE, row.name, id=row.pk, channel=row.channel.name):
        row.delete()


def channel_draft(row: Channel) -> ChannelDraft:
    """As it is; without its secrets, which stay."""
    values = {name: str(value) for name, value in row.settings.items()}
    return ChannelDraft(name=row.name, kind=row.kind, settings=values, language=row.language)


def rule_draft(row: Rule) -> RuleDraft:
    names = ("name", "about", "codes", "least_severity", "places", "digest", "digest_hour", "time_zone")
    return RuleDraft(channel=row.channel.name, **{name: getattr(row, name) for name in names})


def preview(draft: RuleDraft) -> list[Topic]:
    """What the rule would send now; nothing is sent. Raises Refused."""
    return [topic for topic in topics_of(rule_of(draft), database_now()) if topic.loud]


def rule_of(draft: RuleDraft, row: Rule | None = None) -> Rule:
    """The row, not written. Raises Refused, with all problems at once."""
    problems = _names(draft.name)
    channel = Channel.objects.filter(name=draft.channel).first()
    if channel is None:
        problems["channel"] = [sentence("There is no channel {name}.", name=f"{draft.channel[:100]!r}")]
    if not draft.about or (unknown := [one for one in draft.about if one not in ABOUT]):
        problems["about"] = [
            sentence("Unknown: {name}. Known are {known}.", name=f"{unknown[0][:64]!r}", known=", ".join(ABOUT))
            if draft.about
            else sentence("Choose at least one.")
        ]
    if wrong := [code for code in draft.codes if code not in CATALOGUE]:
        problems["codes"] = [sentence("There is no type of finding {name}.", name=f"{wrong[0][:64]!r}")]
    if draft.least_severity not in Severity.values:
        problems["least_severity"] = [sentence("Must be one of {known}.", known=", ".join(Severity.values))]
    if draft.digest not in Digest.values:
        problems["digest"] = [sentence("Must be one of {known}.", known=", ".join(filter(None, Digest.values)))]
    if not 0 <= draft.digest_hour <= 23:
        problems["digest_hour"] = [sentence("Enter an hour from 0 to 23.")]
    if draft.time_zone not in available_timezones():
        problems["time_zone"] = [sentence("There is no time zone {name}.", name=f"{draft.time_zone[:64]!r}")]
    try:
        places = places_in(draft.places)
    except BadScope as error:
        problems["places"] = [quote(str(error))]
    if problems or channel is None:
        raise Refused(problems)
    row = row if row is not None else Rule()
    row.name, row.channel = draft.name.strip(), channel
    row.about, row.codes = list(dict.fromkeys(draft.about)), sorted(set(draft.codes))
    row.least_severity, row.places = draft.least_severity, "\n".join(places)
    row.digest, row.digest_hour, row.time_zone = draft.digest, draft.digest_hour, draft.time_zone
    return row


def _channel(row: Channel, draft: ChannelDraft, known: Mapping[str, str]) -> Channel:
    """The row, not written. known: its secrets now. Raises Refused."""
    problems = _names(draft.name)
    kind = BY_NAME.get(draft.kind)
    if kind is None:
        problems["kind"] = [_one_of_kinds()]
        raise Refused(problems)
    if draft.language not in dict(settings.LANGUAGES):
        problems["language"] = [sentence("Must be one of {known}.", known=", ".join(dict(settings.LANGUAGES)))]
    values = _values(kind, draft.settings, known, problems)
    if problems:
        raise Refused(problems)
    secret = {one.name for one in kind.settings if one.secret}
    secrets = {name: value for name, value in values.items() if name in secret}
    row.name, row.kind, row.language = draft.name.strip(), kind.name, draft.language
    row.settings = {name: value for name, value in values.items() if name not in secret}
    row.sealed = seal(PURPOSE, json.dumps(secrets)) if secrets else ""
    return row


def _values(kind: Kind, given: Mapping[str, str], known: Mapping[str, str], problems: Problems) -> dict[str, str]:
    names = {one.name for one in kind.settings}
    for name in given.keys() - names:
        problems[name] = [sentence("A channel of the type {kind} has no such setting.", kind=kind.name)]
    found = {}
    for one in kind.settings:
        value = given.get(one.name, "").strip() or (known.get(one.name, "") if one.secret else one.default)
        if problem := _problem(one, value):
            problems[one.name] = [problem]
        if value:
            found[one.name] = value
    return found


def _problem(one: Any, value: str) -> Any:
    if not value:
        return sentence("This field is required.") if one.required else None
    if len(value) > LONGEST_SETTING:
        return sentence("Enter at most {most} characters.", most=LONGEST_SETTING)
    if one.choices and value not in one.choices:
        return sentence("Must be one of {known}.", known=", ".join(one.choices))
    try:
        if one.check is not None:
            one.check(value)
    except ValueError as error:
        return error.args[0] if error.args else sentence("Invalid value.")
    return None


def secrets_of(row: Channel) -> dict[str, str]:
    """{} where they cannot be decrypted any more: then they must be entered again."""
    try:
        found: dict[str, str] = json.loads(unseal(PURPOSE, row.sealed)) if row.sealed else {}
    except WrongKey:
        return {}
    return found


def _names(name: str) -> Problems:
    if not name.strip():
        return {"name": [sentence("This field is required.")]}
    if len(name) > LONGEST_NAME or not name.isprintable():
        return {"name": [sentence("Enter at most {most} printable characters.", most=LONGEST_NAME)]}
    return {}


def _kind(name: str) -> Kind:
    if name not in BY_NAME:
        raise Refused({"kind": [_one_of_kinds()]})
    return BY_NAME[name]


def _one_of_kinds() -> Said:
    return sentence("Must be one of {known}.", known=", ".join(BY_NAME))


def _taken(what: str, name: str) -> Refused:
    if what == "channel":
        return Refused({"name": [sentence("Channel {name} already exists.", name=name)]})
    return Refused({"name": [sentence("Rule {name} already exists.", name=name)]})


def _public(row: Channel) -> dict[str, str]:
    return {"name": row.name, "language": row.language, **{name: str(value) for name, value in row.settings.items()}}


def _told(row: Rule) -> dict[str, str]:
    return {
        "name": row.name,
        "channel": row.channel.name,
        "about": ", ".join(row.about),
        "codes": ", ".join(row.codes),
        "severity": row.least_severity,
        "places": row.places.replace("\n", ", "),
        "digest": f"{row.digest} {row.digest_hour}:00 {row.time_zone}" if row.digest == Digest.DAILY else row.digest,
    }
