"""A form whose fields become a draft. What is wrong with it is asked of the app, as REST does, and put at its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django import forms

from pages.frame.worded import worded


class DraftForm(forms.Form):
    """elsewhere: what is wrong and at no field that is seen: name → texts."""

    use_required_attribute = False
    #: Name of what the app says → field.
    names: ClassVar[Mapping[str, str]] = {}

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, auto_id="f-%s", label_suffix="", **options)
        self.elsewhere: dict[str, list[str]] = {}

    def typed(self, name: str) -> Any:
        return self.cleaned_data.get(name, "")

    def refuse(self, problems: Mapping[str, Sequence[Any]]) -> None:
        for name, said in problems.items():
            texts, field = [worded(text) for text in said], self.names.get(name, name)
            if field in self.fields and not self.fields[field].widget.is_hidden:
                for text in texts:
                    self.add_error(field, text)
            else:
                self.elsewhere.setdefault(name, []).extend(texts)

    def problems(self) -> list[tuple[str, str]]:
        """What is said at no field, name and text."""
        return [(name, " ".join(texts)) for name, texts in self.elsewhere.items()]
