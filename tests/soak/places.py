"""The books of the churn: which card has which pod, and which is being changed by somebody at this moment."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from tests.controlplane.objects import Json

TRIES = 30


class Place(NamedTuple):
    """A card of a node of a kind."""

    kind: str
    node: str
    card: int


class Places:
    """Thread-safe. A place that is taken is nobody else's until it is given back, with its pod or without."""

    def __init__(self, places: Iterable[Place], chance: Random) -> None:
        self._places, self._chance = list(places), chance
        self._held: dict[Place, Json] = {}
        self._busy: set[Place] = set()
        self._lock = threading.Lock()

    def take_free(self, kinds: Iterable[str], node: str = "") -> Place | None:
        """A card without a pod; on this node, where one is named."""
        with self._lock:
            for place in self._some(kinds, node):
                if place not in self._held and place not in self._busy:
                    self._busy.add(place)
                    return place
        return None

    def take_held(self, kinds: Iterable[str]) -> tuple[Place, Json] | None:
        with self._lock:
            for place in self._some(kinds, ""):
                if place in self._held and place not in self._busy:
                    self._busy.add(place)
                    return place, self._held.pop(place)
        return None

    def _some(self, kinds: Iterable[str], node: str) -> list[Place]:
        wanted = set(kinds)
        fit = [place for place in self._places if place.kind in wanted and node in ("", place.node)]
        return self._chance.sample(fit, min(TRIES, len(fit)))

    def give(self, place: Place, pod: Json | None = None) -> None:
        with self._lock:
            self._busy.discard(place)
            if pod is not None:
                self._held[place] = pod

    def take_node(self, node: str) -> list[Place] | None:
        """All cards of a node and their pods are the caller's; None while somebody changes one of them."""
        with self._lock:
            mine = [place for place in self._places if place.node == node]
            if self._busy.intersection(mine):
                return None
            self._busy.update(mine)
            for place in mine:
                self._held.pop(place, None)
            return mine
