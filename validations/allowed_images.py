"""What may run: the images and pull secrets that the settings allow, whoever asks and whatever stands in a row.

Asked before a launch, when a campaign is made, and by the worker right before it makes the Job: a setting may have changed
meanwhile, or a row may have been written into.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings

from kube.images import Allowed, allowed
from validations.suites.engine.base import Suite
from wording.said import sentence


class Denied(NamedTuple):
    """An option that is not allowed. code: of the reason with which a run ends that has it."""

    option: str
    code: str
    text: str


def allowed_images() -> Allowed:
    return _read(tuple(settings.ALLOWED_IMAGES))


@lru_cache(maxsize=8)
def _read(entries: tuple[str, ...]) -> Allowed:
    return allowed(entries)


def denied(suite: Suite, options: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[Denied]:
    """What is not allowed, [] for nothing. options: settled. manifest: the Job where there is one, {} where no node is known yet."""
    found = [_image(suite, options, manifest), _secret(str(options["pull_secret"]))]
    return [one for one in found if one is not None]


def _image(suite: Suite, options: Mapping[str, Any], manifest: Mapping[str, Any]) -> Denied | None:
    images = allowed_images()
    if images.suites and suite.own_image(dict(options)):
        return None
    image = str(options["image"])
    if manifest:
        image = manifest["spec"]["template"]["spec"]["containers"][0]["image"]
    if not image or images.admits(image):
        return None
    text = sentence("Image {image} is not allowed (GPUDASH_ALLOWED_IMAGES).", image=image[:255])
    return Denied("image", "image-not-allowed", text)


def _secret(name: str) -> Denied | None:
    if not name or name in settings.PULL_SECRETS:
        return None
    known = (
        sentence("allowed: {names}", names=", ".join(settings.PULL_SECRETS))
        if settings.PULL_SECRETS
        else sentence("none allowed")
    )
    text = sentence(
        "Pull secret {name} is not allowed (GPUDASH_PULL_SECRETS; {known}).",
        name=name,
        known=known,
    )
    return Denied("pull_secret", "secret-not-allowed", text)
