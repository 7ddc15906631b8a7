"""Where one process serves one person, INFO goes to a file in the data folder: the terminal keeps the sign-in link and warnings."""

from __future__ import annotations

import logging.config
from pathlib import Path
from typing import Any

from django.conf import settings

NAME = "gpudash.log"
MOST_BYTES, KEPT = 4 * 2**20, 2


def log_to_file(folder: Path) -> Path:
    """The file; the terminal keeps warnings. The folder is open to its owner alone, so the file and those before it are.

    Through the setting, since Celery has Django configure logging once more.
    """
    path = folder / NAME
    config: dict[str, Any] = settings.LOGGING
    console = config["handlers"]["console"]
    config["handlers"]["file"] = console | {
        "class": "logging.handlers.RotatingFileHandler",
        "filename": str(path),
        "maxBytes": MOST_BYTES,
        "backupCount": KEPT,
        "encoding": "utf-8",
        "delay": True,
    }
    console["level"] = "WARNING"
    config["root"]["handlers"] = ["console", "file"]
    logging.config.dictConfig(config)
    return path
