"""What is particular of an audited act, in words: the names that `audit.acts.act` was given, and its words for them.

What is neither here nor a sentence is a name of somebody or something and stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from audit.models import Entry
from pages.frame.worded import foreign, worded_html
from wording.said import Said, restored

NAMES: Mapping[str, Promise] = {
    "before": _("before"),
    "by": _("method"),
    "card": _("card"),
    "cluster": _("cluster"),
    "ended": _("sessions ended"),
    "every_s": _("interval, s"),
    "image": _("container image"),
    "kubeconfig": _("kubeconfig"),
    "launcher": _("kubeconfig of the launcher"),
    "matchers": _("label matchers"),
    "name": _("name"),
    "networks": _("networks"),
    "node": _("node"),
    "of": _("user"),
    "parallel": _("parallel"),
    "scope": _("scope"),
    "pull_secret": _("pull secret"),
    "query": _("query"),
    "role": _("role"),
    "run": _("run"),
    "server": _("server"),
    "shared": _("shared"),
    "state": _("state"),
    "stopped": _("tokens revoked"),
    "subject": _("subject"),
    "suite": _("suite"),
    "text": _("text"),
    "to": _("action"),
    "token_file": _("token file"),
    "usage": _("exporters"),
    "wanted": _("requires"),
    "why": _("reason"),
    # Of a policy.
    "level": _("least test level"),
    "options": _("options"),
    "pool": _("pool"),
    "model": _("model"),
    "stack": _("stack"),
    "node_labels": _("node labels"),
    "max_age_s": _("valid for, s"),
    "void_on_driver": _("voided by a driver change"),
    "void_on_reboot": _("voided by a reboot"),
    "void_on_machine": _("voided by another machine"),
    "void_on_image": _("voided by another image"),
    "counts_imported": _("counts results from other tools"),
    "sha256": _("SHA-256"),
    "verdict": _("verdict"),
    "window_cron": _("start of the window"),
    "window_minutes": _("window, min"),
    "time_zone": _("time zone"),
    "max_per_cluster": _("parallel runs per cluster"),
    "max_per_pool": _("parallel runs per pool"),
    "card_minutes_per_day": _("minutes per card in 24 h"),
    "keep_free_nodes": _("free nodes per pool"),
    "keep_free_cards": _("free cards per pool"),
    "paused": _("paused"),
    # Of channels, rules and silences.
    "about": _("about"),
    "again": _("delivery that is sent again"),
    "channel": _("channel"),
    "codes": _("types of findings"),
    "digest": _("digest"),
    "kind": _("type"),
    "language": _("language"),
    "places": _("scope"),
    "reason": _("reason"),
    "rules": _("rules"),
    "secrets": _("secrets"),
    "severity": _("least severity"),
    "until": _("until"),
}
#: Name → word → as it is shown.
VALUES: Mapping[str, Mapping[str, Promise]] = {
    "by": {
        "code": _("code"),
        "command": _("command line"),
        "link": _("link"),
        "page": _("page"),
        "password": _("password"),
        "password and code": _("password and code"),
        "proxy": _("proxy"),
        "worker": _("worker"),
    },
    "launcher": {"none": _("none")},
    "scope": {"everything": _("all clusters")},
    "role": {"none": _("no role")},
    "secrets": {"changed": _("changed")},
    "shared": {"everything": _("all clusters")},
    "state": {"active": _("active"), "deactivated": _("deactivated"), "on": _("on"), "off": _("off")},
    "to": {"pause": _("pause"), "resume": _("resume"), "stop": _("stop")},
    "usage": {"directly": _("read directly"), "no more": _("removed")},
    "wanted": {"another address": _("other address")},
    "why": {"deactivated": _("deactivated"), "no group with a role": _("no group with a role")},
}


def details(row: Entry) -> list[tuple[str, SafeString]]:
    """Name and value of each, in the reader's language."""
    told = row.detail if isinstance(row.detail, dict) else {}
    forms = row.wording if isinstance(row.wording, dict) else {}
    return [
        (str(NAMES.get(name, name)), _value(name, "–" if value is None else str(value), forms.get(name)))
        for name, value in sorted(told.items())
    ]


def _value(name: str, value: str, form: object) -> SafeString:
    word = VALUES.get(name, {}).get(value)
    if word is not None:
        return SafeString(word)
    said = restored(value, form) if form is not None else value
    return worded_html(said) if isinstance(said, Said) else foreign(value)
