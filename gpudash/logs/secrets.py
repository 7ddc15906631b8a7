"""Takes out of log records what lets somebody in: sign-in links, API tokens, what follows the scheme Bearer, and requests, whose text
has the query string.

It stands before the one handler of all loggers, so it covers Django's and the web server's lines too.
"""

from __future__ import annotations

import logging
import re
import traceback

_SECRETS = re.compile(
    r"(/sign-in/link/|gpd_[0-9]{1,18}_(?=[A-Za-z0-9_-]{20})|(?i:\bbearer)(?:[ \t]+|%20)(?!gpd_)(?=[A-Za-z0-9._~+/=-]{20}))"
    r"[^\s\"'\\?#<>,;)]+"
)


def masked(text: str) -> str:
    """The text with "…" in place of each secret."""
    return _SECRETS.sub(r"\1…", text)


class SecretsFilter(logging.Filter):
    """Lets every record through, without its secrets."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.__dict__.pop("request", None)
        _mask_message(record)
        _mask_traceback(record)
        return True


def _mask_message(record: logging.LogRecord) -> None:
    try:
        text = record.getMessage()
    except (TypeError, ValueError):
        return  # the handler reports a message that does not fit its arguments; the request goes on
    if masked(text) != text:
        record.msg, record.args = masked(text), ()


def _mask_traceback(record: logging.LogRecord) -> None:
    if not record.exc_info:
        return
    text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    if masked(text) != text:
        record.exc_info, record.exc_text = None, masked(text)
