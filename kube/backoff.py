"""How long one waits after a failure before asking an API server again."""

from __future__ import annotations

import random

FIRST_S, CAP_S = 0.5, 30.0


def backoff_s(failures: int, retry_after_s: float | None, jitter: float | None = None) -> float:
    """Seconds to wait after `failures` failures before: exponential with jitter (0.5–1), capped; never sooner than Retry-After."""
    share = random.uniform(0.5, 1.0) if jitter is None else jitter
    wait_s: float = min(FIRST_S * 2 ** min(failures, 10), CAP_S) * share
    return max(wait_s, retry_after_s or 0.0)
