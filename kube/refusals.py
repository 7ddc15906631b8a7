"""Of a kind that is read in several places: which of them the API server refuses, so that the others are read all the same."""

from __future__ import annotations

from kube.client import ApiError, Client
from kube.identity import version_now
from kube.source import NotServed, Place, Source
from wording.said import of_error, sentence, series


class Refusals:
    """Places of a source that may not be read, as lists and watches found. A source of one place has none: its error is raised."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._errors: dict[Place, ApiError] = {}
        self._unlisted: frozenset[Place] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._errors)

    def clear(self) -> None:
        self._errors = {}

    def note(self, place: Place, error: ApiError) -> None:
        """Raises the error where it is none of these."""
        if error.status != 403 or len(self._source.places) == 1:
            raise absent(error)
        self._errors[place] = error

    def raise_first(self) -> None:
        """Raises ApiError: nothing may be read."""
        raise next(iter(self._errors.values()))

    @property
    def admitted(self) -> tuple[Place, ...]:
        """The other places; all, where none is left: then each is tried again."""
        places = self._source.places
        return tuple(place for place in places if place not in self._errors) or places

    def end_list(self) -> tuple[str, ...]:
        """All places were listed or refused. Returns the texts of those that were refused."""
        self._unlisted = frozenset(self._errors)
        return tuple(place.text for place in self._errors)

    @property
    def listed(self) -> tuple[Place, ...]:
        """Places of which the last list knows what is there; a watch may be refused them since."""
        return tuple(place for place in self._source.places if place not in self._unlisted)

    @property
    def text(self) -> str:
        """What may not be read, and what the server says."""
        return series(
            (
                sentence("{place}: {error}", place=place.text, error=of_error(error))
                for place, error in self._errors.items()
            ),
            "; ",
        )

    def lifted(self, client: Client) -> bool:
        """Whether one of the places may be read now. Raises ApiError."""
        for place in self._errors:
            try:
                version_now(client, place.path, dict(place.query))
            except ApiError as error:
                if error.status != 403:
                    raise
            else:
                return True
        return False


def absent(error: ApiError) -> ApiError:
    """A 404 of a list or a watch says that there is no such kind."""
    return NotServed(error.message or error.reason) if error.status == 404 else error
