"""Whether a campaign can be made as it is asked for, and whether one that was made may go on."""

from __future__ import annotations

from typing import Any

from inventory.models import Cluster, Node
from validations.allowed_images import denied
from validations.models import Campaign
from validations.permitted import check_soon, forbidden
from validations.planning import Refused, find_suite
from validations.requester import gone
from validations.suites import find
from validations.suites.engine.base import OptionError
from wording.said import sentence

MOST_TARGETS = 10_000
MOST_PARALLEL = 1_000

#: (cluster name, node, card key or "")
Spot = tuple[str, str, str]


def check(suite: str, places: list[Spot], options: dict[str, Any], parallel: int, failures: int | None) -> None:
    """Raises Refused, with all problems at once."""
    problems: dict[str, list[str]] = {}
    codes: list[str] = []
    found = find_suite(suite)
    if found.nodes > 1:
        text = sentence("Suite {suite} runs on several nodes: a campaign has one node per run.", suite=found.id)
        problems["suite"] = [text]
    try:
        settled = found.settle(options)
        not_allowed = denied(found, settled, {})
        problems |= {f"options.{one.option}": [one.text] for one in not_allowed}
        codes = [one.code for one in not_allowed]
    except OptionError as error:
        problems |= {f"options.{name}": [text] for name, text in error.problems.items()}
    if not 1 <= parallel <= MOST_PARALLEL:
        problems["max_parallel"] = [
            sentence("Must be an integer from 1 to {most_parallel}.", most_parallel=MOST_PARALLEL)
        ]
    if failures is not None and not 1 <= failures <= MOST_TARGETS:
        problems["stop_after_failures"] = [
            sentence("Must be empty or an integer from 1 to {most_targets}.", most_targets=MOST_TARGETS)
        ]
    if not places or len(places) > MOST_TARGETS:
        problems["targets"] = [
            sentence(
                "{number} targets given. A campaign takes 1 to {most_targets}.",
                number=len(places),
                most_targets=MOST_TARGETS,
            )
        ]
    elif missing := _missing(places):
        problems["targets"] = [
            sentence("Nodes not found: {names} (total: {number}).", names=", ".join(missing[:10]), number=len(missing))
        ]
    elif refused := _refused(places):
        problems["targets"] = refused
    if problems:
        raise Refused(problems, codes)


def _refused(places: list[Spot]) -> list[str]:
    """Why clusters of the targets are known to refuse every launch."""
    found: list[str] = []
    for cluster in Cluster.objects.filter(name__in={place[0] for place in places}):
        if reason := forbidden(cluster):
            check_soon(cluster)
            found.append(
                sentence("Cluster {name}: {text} ({code})", name=cluster.name, text=reason.text, code=reason.code)
            )
    return found


def _missing(places: list[Spot]) -> list[str]:
    """Targets whose cluster or node is not there: one query per cluster."""
    missing = []
    for cluster in {place[0] for place in places}:
        known = set(Node.objects.filter(cluster__name=cluster).values_list("name", flat=True))
        missing += [f"{cluster}/{node}" for name, node, _ in places if name == cluster and node not in known]
    return sorted(missing)


def ended_by(campaign: Campaign) -> str:
    """Why nothing of the campaign may be started any more, "" when it may: the suite, who asked, or the settings have changed."""
    suite = find(campaign.suite)
    if suite is None:
        return sentence("This version of gpudash has no suite {suite}.", suite=campaign.suite)
    if why := gone(campaign.requested_by, campaign.requested_by_name):
        return why
    try:
        return " ".join(one.text for one in denied(suite, suite.settle(campaign.options), {}))
    except OptionError:
        return ""  # each place says what is wrong with the options
