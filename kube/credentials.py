"""The answers of credential plugins, one for all in this process who ask with the same source.

A plugin may be slow, or hang: it runs in a thread of its own, once for all who wait. Who asks waits for a short time and then
gets an error that says for how long it has been running; the next try finds the finished answer. An answer that will end is
renewed ahead of its end, and goes on being used until then.
"""

from __future__ import annotations

import logging
import threading
import time

from kube import plugin
from kube.errors import ApiError
from kube.plugin import Credential, PluginFailed, Spec
from wording.said import of_error, sentence

logger = logging.getLogger(__name__)

#: How long somebody who asks waits for a plugin that runs: less than a lease lasts.
PATIENCE_S = 5.0
#: A plugin is not asked more often than this, whatever its answers are worth: a 401 or a wrong clock must not start it in a loop.
RENEW_S = 10.0
#: After a failure the next run waits for 5, 10, then 20 s.
FAILED_S, FAILED_CAP_S = 5.0, 20.0
#: An answer is renewed when a fifth of its life is left, at most five minutes ahead.
AHEAD_SHARE, AHEAD_CAP_S = 0.2, 300.0
#: Sources that nobody asked for in this time are forgotten.
FORGET_S = 3600.0


class Answer:
    """One credential that a plugin gave. Times are of the monotonic clock."""

    def __init__(self, credential: Credential, took_s: float) -> None:
        self.credential = credential
        now = time.monotonic()
        lasts_s = credential.lasts_s
        # One that has expired when it comes is used all the same for a while: it may be our clock that is wrong.
        self.ends_at = None if lasts_s is None else now + max(lasts_s, RENEW_S)
        ahead_s = 0.0 if lasts_s is None else min(max(lasts_s * AHEAD_SHARE, took_s * 2), AHEAD_CAP_S, lasts_s)
        self.renew_at = None if lasts_s is None else now + max(lasts_s - ahead_s, RENEW_S)

    @property
    def over(self) -> bool:
        return self.ends_at is not None and time.monotonic() >= self.ends_at

    @property
    def ageing(self) -> bool:
        return self.renew_at is not None and time.monotonic() >= self.renew_at


class Source:
    """What one plugin says. Thread-safe."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.asked_at = time.monotonic()
        self._changed = threading.Condition()
        self._answer: Answer | None = None
        self._refused: Answer | None = None
        self._failure, self._failures = "", 0
        self._started_at, self._running = float("-inf"), False
        self._not_before = float("-inf")

    def answer(self, patience_s: float = PATIENCE_S) -> Answer:
        """The credential of now. Raises ApiError(0, "Credentials") where there is none yet, or none to be had."""
        with self._changed:
            self.asked_at = time.monotonic()
            kept = self._good()
            if kept is not None and not kept.ageing:
                return kept
            self._start()
            if kept is not None:
                return kept
            # Who comes while it has been running for long does not wait again.
            self._changed.wait_for(self._settled, max(self._started_at + patience_s - time.monotonic(), 0.0))
            if (now := self._good()) is not None:
                return now
            if self._answer is not None and not self._answer.over and not self._running and not self._failure:
                return (
                    self._answer
                )  # refused a moment ago: until the plugin may be asked again, the server's word tells more
            raise ApiError(0, "Credentials", self._why())

    def refused(self, answer: Answer) -> None:
        """The API server did not know this one (401): have another."""
        with self._changed:
            if answer is self._answer:
                self._refused = answer

    def _good(self) -> Answer | None:
        known = self._answer
        return known if known is not None and known is not self._refused and not known.over else None

    def _settled(self) -> bool:
        return not self._running

    def _start(self) -> None:
        """In a thread of its own, unless it runs, or has just been run."""
        now = time.monotonic()
        if self._running or now < self._not_before:
            return
        self._running, self._started_at = True, now
        threading.Thread(target=self._run, name="credential plugin", daemon=True).start()

    def _run(self) -> None:
        answer, failure = None, ""
        try:
            credential = plugin.run(self.spec, plugin.LIMIT_S)
            answer = Answer(credential, time.monotonic() - self._started_at)
        except PluginFailed as error:
            failure = of_error(error)
        except Exception as error:
            logger.exception("the credential plugin %r", self.spec.command)
            failure = sentence("failed ({name}; see the log)", name=type(error).__name__)
        with self._changed:
            self._end(answer, failure)
            self._changed.notify_all()

    def _end(self, answer: Answer | None, failure: str) -> None:
        self._running = False
        if answer is not None:
            self._answer, self._failures = answer, 0
            self._not_before = self._started_at + RENEW_S
        else:
            if failure != self._failure or not self._failures:
                logger.warning("the credential plugin %r %s", self.spec.command, failure)
            self._not_before = time.monotonic() + min(FAILED_S * 2**self._failures, FAILED_CAP_S)
            self._failures = min(self._failures + 1, 10)
        self._failure = failure

    def _why(self) -> str:
        command = repr(self.spec.command)
        if self._running:
            return sentence(
                "the credential plugin {command} (users[].user.exec) has not responded for {seconds} s",
                command=command,
                seconds=f"{time.monotonic() - self._started_at:.0f}",
            )
        return sentence(
            "the credential plugin {command} (users[].user.exec) returned no credential: it {failure}. Run it "
            "manually to find the cause",
            command=command,
            failure=self._failure,
        )


_sources: dict[str, Source] = {}
_lock = threading.Lock()


def source_of(spec: Spec) -> Source:
    """The one of this process for this source. Never blocks."""
    with _lock:
        old = time.monotonic() - FORGET_S
        for key in [key for key, source in _sources.items() if source.asked_at < old]:
            del _sources[key]
        return _sources.setdefault(spec.key, Source(spec))


__all__ = ["Answer", "Source", "source_of"]
