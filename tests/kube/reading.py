"""A reflector under test, with what came out of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from kube.client import Client
from kube.messages import Changes, Listed, ListEnd, Message, Relist, Trouble, Watching
from kube.objects import Pod
from kube.reflector import Reflector
from tests.kube.scripted import PATIENCE_S
from tests.kube.words import PODS


def soon(failures: int, retry_after_s: float | None) -> float:
    """A back-off for tests."""
    return 0.001


class Reading:
    """`until(...)` takes messages until a condition holds and keeps all of them in `messages`."""

    def __init__(
        self,
        client: Client,
        version: str = "",
        silence_s: float = PATIENCE_S,
        backoff: Callable[[int, float | None], float] = soon,
    ) -> None:
        self.reflector: Reflector[Pod] = Reflector(client, PODS, Pod, version, 2, silence_s, backoff)
        self.messages: list[Message[Pod]] = []
        self.reflector.start()

    def until(self, done: Callable[[Message[Pod]], bool]) -> Message[Pod]:
        """The first message for which `done` holds."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            message = self.reflector.next(0.5)
            if message is not None:
                self.messages.append(message)
                if done(message):
                    return message
        raise AssertionError(f"it did not come; what came: {self.words()}")

    def until_type(self, kind: type, count: int = 1) -> Any:
        """The message with which there are `count` of this type."""
        return self.until(lambda _: sum(isinstance(message, kind) for message in self.messages) >= count)

    def until_name(self, name: str) -> None:
        """Until an event of this object has come."""
        self.until(lambda _: any(event.endswith(f" {name}") for event in self.events()))

    def words(self) -> list[str]:
        """The messages in short."""
        return [_word(message) for message in self.messages]

    def events(self) -> list[str]:
        """Events in order: "ADDED a"."""
        return [
            f"{event.type} {event.object.metadata.name if event.object else event.resource_version}"
            for message in self.messages
            if isinstance(message, Changes)
            for event in message.events
        ]

    def troubles(self) -> list[Trouble]:
        return [message for message in self.messages if isinstance(message, Trouble)]

    def seconds_to_stop(self) -> float:
        started = time.monotonic()
        self.reflector.stop()
        return time.monotonic() - started


def _word(message: Message[Pod]) -> str:
    if isinstance(message, Listed):
        return "listed " + " ".join(thing.metadata.name for thing in message.page.objects)
    if isinstance(message, ListEnd):
        return f"end {message.resource_version}"
    if isinstance(message, Trouble):
        return "trouble"
    if isinstance(message, Changes):
        return f"{len(message.events)} changes"
    assert isinstance(message, Relist | Watching)
    return type(message).__name__.lower()
