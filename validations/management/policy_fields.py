"""The fields of a policy as options of a command."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from validations.management.pairs import pairs
from validations.policies.manage import PolicyDraft

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


def add_fields(parser: ArgumentParser) -> None:
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


def draft_of_options(options: dict[str, Any]) -> PolicyDraft:
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
