"""What messages can be about: one function for each kind of topics, named once, here.

Each gives the topics that hold now within the scope in force: (severities, codes, at) → topics. From rows alone: the same rows give
the same topics, so a restart loses nothing and nothing is told twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from accounts.scopes import scope_of
from inventory.models.choices import Severity
from notifications.topics import findings, installation, nodes, validation
from notifications.topics.topic import Topic
from runtime.scope import seeing
from wording.said import gettext_noop

if TYPE_CHECKING:
    from notifications.models import Rule

Topics = Callable[[Sequence[str], Sequence[str], datetime], Iterable[Topic]]


class About(NamedTuple):
    """A kind of topics. title: in English, marked for translation."""

    name: str
    title: str
    topics: Topics


KINDS = (
    About(findings.FINDING, gettext_noop("Findings"), findings.findings),
    About(findings.CLUSTER, gettext_noop("Cluster not reporting"), findings.clusters),
    About(validation.VALIDATION, gettext_noop("Cards no longer validated"), validation.validation),
    About(validation.POLICY, gettext_noop("Policies that cannot be met"), validation.policies),
    About(validation.CAMPAIGN, gettext_noop("Campaigns that ended"), validation.campaigns),
    About(nodes.OUT_OF_SERVICE, gettext_noop("Nodes out of service"), nodes.nodes),
    About(installation.INSTALLATION, gettext_noop("gpudash itself"), installation.installation),
)
BY_NAME = {one.name: one for one in KINDS}


def topics_of(rule: Rule, at: datetime) -> list[Topic]:
    """What the rule is about and what holds now, those of the same key once."""
    severities = Severity.values[: Severity.values.index(rule.least_severity) + 1]
    with seeing(scope_of(rule.places.split())):
        found = [
            topic
            for name in rule.about
            if name in BY_NAME
            for topic in BY_NAME[name].topics(severities, rule.codes, at)
        ]
    # What is wrong with a channel is not sent to that channel.
    own = f"{installation.INSTALLATION}:{installation.CHANNEL_FAILING}:{rule.channel_id}"
    return list({one.key: one for one in found if one.key != own}.values())
