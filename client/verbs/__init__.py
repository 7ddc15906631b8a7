"""The verbs, each in a module: HELP, `arguments` adds its options, `run` asks the server."""

from __future__ import annotations

from . import components, fit, free, validate, who, why

VERBS = {"free": free, "fit": fit, "who": who, "why": why, "validate": validate, "components": components}
