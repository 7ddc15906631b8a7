"""The Job of a run is made anew when it is posted, from what the run asks for and what the mirror knows now.

The row's own manifest is only what pages show. Namespace and names come from settings and from the run's id, never from the row.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings

from validations import groups
from validations.allowed_images import allowed_images, denied
from validations.installation import instance_name
from validations.jobs import build, sure_card
from validations.lifecycle.endings import Ending
from validations.lifecycle.gives_way import with_priority
from validations.maker import maker
from validations.models import Run
from validations.not_allowed import note_run
from validations.requester import gone
from validations.suites import find
from validations.suites.engine.base import OptionError, Suite
from validations.suites.engine.reasons import PASSING
from validations.targets import NoPlace, Place, find_place
from wording.said import sentence, series


class CannotBuild(Exception):
    """There is no Job for this run any more; `ending` says why."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.ending = Ending(code, text)


class Built(NamedTuple):
    """The Job to post. own_image: whether it runs the image that the suite brings."""

    manifest: dict[str, Any]
    own_image: bool


def manifest_now(run: Run, moment: datetime) -> Built:
    """The Job to post. Raises CannotBuild when the suite is gone, who asked may not launch any more, the place is not what the run
    was asked for, or the settings do not allow what it would run: what the rules refuse is in the audit log."""
    try:
        return _made(run, moment)
    except CannotBuild as error:
        note_run(run, error.ending.code, str(error))
        raise


def _made(run: Run, moment: datetime) -> Built:
    suite = find(run.suite)
    if suite is None:
        raise CannotBuild(
            "suite-missing",
            sentence("This version of gpudash has no suite {suite}.", suite=run.suite[:64]),
        )
    if text := gone(run.requested_by, run.requested_by_name, run.cluster):
        raise CannotBuild("requester-not-allowed", text)
    try:
        group = groups.find_places(suite, run.cluster.name, run.group) if suite.nodes > 1 else ()
        place = group[0] if group else find_place(run.cluster.name, run.node_name, run.card_requested)
        options = dict(suite.settle(run.options if isinstance(run.options, dict) else {}))
        _check(run, suite, place, group, options)
        namespace = settings.VALIDATION_NAMESPACE
        hosts = groups.hostnames(group)
        names = {"namespace": namespace, "instance": instance_name(), "maker": maker()}
        made = build(suite, place, options, run.pk, moment, images=allowed_images(), hosts=hosts, **names)
    except NoPlace as error:
        raise CannotBuild(
            "target-gone", sentence("The target of this run no longer exists: {error}", error=str(error))
        ) from None
    except OptionError as error:
        texts = series(
            (sentence("{name}: {text}", name=name, text=text) for name, text in error.problems.items()), "; "
        )
        raise CannotBuild(
            "bad-arguments", sentence("The options of this run are invalid: {texts}", texts=texts)
        ) from None
    except ValueError as error:
        raise CannotBuild("no-resource", str(error)) from None
    with_priority(made, run.policy_id is not None)
    if not_allowed := denied(suite, options, made):
        raise CannotBuild(not_allowed[0].code, series(one.text for one in not_allowed))
    return Built(made, suite.own_image(options))


def _check(run: Run, suite: Suite, place: Place, group: tuple[Place, ...], options: dict[str, Any]) -> None:
    """What only has to be waited for (a full node) is for the scheduler to say. A result must not go to another card."""
    reasons = groups.why_not(suite, group, options) if group else suite.fit(place.target, options)
    if hindrances := [one for one in reasons if one.code not in PASSING]:
        raise CannotBuild(hindrances[0].code, series(one.text for one in hindrances))
    card = sure_card(suite, place, options)
    if run.card_evidence == "target" and (card is None or card.key != run.card_key):
        text = sentence(
            "Node {node_name} has changed: the run can no longer request card {card_key}.",
            node_name=run.node_name,
            card_key=run.card_key,
        )
        raise CannotBuild("place-changed", text)
