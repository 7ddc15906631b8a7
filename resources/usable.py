"""Whether work can be put on a node or card."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from resources.declared import Shape, fact


class UsableShape(Shape):
    """Whether work can be put on a node or card, as far as validations show."""

    usable: Annotated[str, fact("yes, no or unknown.")]
    reason: Annotated[str, fact("Code.")]
    text: str
    card: Annotated[str | None, fact("Key of the card that decides.")]
    at: Annotated[datetime | None, fact("End of the run that decides.")]
    run: Annotated[str | None, fact("Run that decides.")]
    link: Annotated[str | None, fact("Page of the run, or of the card.")]
