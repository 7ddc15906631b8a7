"""Why exporters could not be read."""

from __future__ import annotations

REFUSED, TOO_LARGE, BUSY, AWAY, STRANGE, QUESTION = "refused", "too-large", "busy", "away", "strange", "question"


class SourceError(Exception):
    """What went wrong and what to do. kind: one of the words above; retry_after_s: what it asked for."""

    def __init__(self, kind: str, text: str, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.kind, self.text, self.retry_after_s = kind, text, retry_after_s
