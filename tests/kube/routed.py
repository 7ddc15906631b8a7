"""A scripted server whose answers are prepared for each path: for what asks several paths in an order of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.kube.scripted import Answer, Asked, Hang, ScriptedServer


class Routed(ScriptedServer):
    """routes: path → its answers, in order. When they are used up, a request is held until the server closes."""

    def __init__(self, routes: Mapping[str, Sequence[Answer | type[Hang]]]) -> None:
        self._routes = {path: list(answers) for path, answers in routes.items()}
        super().__init__()

    def take(self, asked: Asked) -> Answer | type[Hang]:
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()
            answers = self._routes.get(asked.path, [])
            return answers.pop(0) if answers else Hang
