"""Reason codes of what settings and roles do not allow: see `validations.policy` and `validations.requester`."""

from __future__ import annotations

from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.words import gettext_noop

OF_THE_SETTINGS = (
    ReasonWords(
        "image-not-allowed",
        gettext_noop("the image is not allowed here"),
        "Take the suite's own image, or have an administrator add the image to `GPUDASH_ALLOWED_IMAGES`.",
    ),
    ReasonWords(
        "secret-not-allowed",
        gettext_noop("the pull secret is not allowed here"),
        "Leave `pull_secret` empty, or have an administrator add the name to `GPUDASH_PULL_SECRETS`.",
    ),
    ReasonWords(
        "taint",
        gettext_noop("the node has a taint that runs do not tolerate"),
        "Take the taint away, choose another node, or have an administrator add it to `GPUDASH_TOLERATED_TAINTS`.",
    ),
    ReasonWords(
        "requester",
        gettext_noop("who asked for it may not launch any more"),
        "Somebody with the role operator or admin launches it again.",
    ),
)
