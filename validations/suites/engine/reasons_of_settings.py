"""Reason codes of what settings and roles do not allow: see `validations.allowed_images` and `validations.requester`."""

from __future__ import annotations

from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.words import gettext_noop

OF_THE_SETTINGS = (
    ReasonWords(
        "image-not-allowed",
        gettext_noop("image not allowed"),
        "Use the suite's own image, or ask an administrator to add the image to `GPUDASH_ALLOWED_IMAGES`.",
        points_to="configuration",
    ),
    ReasonWords(
        "secret-not-allowed",
        gettext_noop("pull secret not allowed"),
        "Leave `pull_secret` empty, or ask an administrator to add the name to `GPUDASH_PULL_SECRETS`.",
        points_to="configuration",
    ),
    ReasonWords(
        "taint",
        gettext_noop("node taint not tolerated"),
        "Remove the taint, choose another node, or ask an administrator to add it to `GPUDASH_TOLERATED_TAINTS`.",
        points_to="scheduling",
    ),
    ReasonWords(
        "requester-not-allowed",
        gettext_noop("requester no longer has permission"),
        "Ask a user with the role operator or admin to launch it again.",
        points_to="configuration",
    ),
)
