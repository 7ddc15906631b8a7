"""The kinds of filter that the lists need: words, choices, amounts of bytes, free search; and the form that is strict.

Knows no table but that of the clusters; `resources.filters` puts these together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import django_filters as df
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from inventory.models import Cluster
from kube import quantity, typed
from resources import moments

MAX_LENGTH = 512
MAX_VALUES = 100
MAX_WORDS = 8


class WordsField(forms.MultipleChoiceField):
    """One word or several (the name repeated): any of them matches. choices: the only words allowed, or none for any."""

    def __init__(self, *, words: Iterable[str] = (), **options: Any) -> None:
        self.words = tuple(words)
        super().__init__(choices=[(word, word) for word in self.words], **options)

    def to_python(self, value: Any) -> list[str]:
        """A blank value, as forms send it, is no value."""
        values = [value] if isinstance(value, str) else value or []
        return [str(word) for word in values if word]

    def validate(self, value: list[str]) -> None:
        if len(value) > MAX_VALUES:
            raise ValidationError(_("At most %(n)d values.") % {"n": MAX_VALUES})
        for word in value:
            _check_text(word)
            if self.words and word not in self.words:
                raise ValidationError(_one_of(self.words, word))


class OneOfField(forms.CharField):
    """Exactly one of a few words; `default` when nothing is given."""

    def __init__(self, *, words: Iterable[str], default: str, **options: Any) -> None:
        self.words, self.default = tuple(words), default
        super().__init__(**options)

    def clean(self, value: Any) -> str:
        return str(super().clean(value)) or self.default

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and value not in self.words:
            raise ValidationError(_one_of(self.words, value))


class BytesField(forms.CharField):
    """Bytes as a whole number, or with a unit, as Kubernetes or people write it: 8589934592, 8Gi, 0.5Ti, 8 GiB."""

    def clean(self, value: Any) -> int | None:
        text = str(super().clean(value))
        if not text:
            return None
        amount = asked_bytes(text)
        if amount is None:
            wanted = _(
                "Must be an amount of memory, such as 20 GiB. In URLs and REST, a plain number is bytes. Got: %(text)s."
            )
            raise ValidationError(wanted % {"text": repr(text[:64])})
        return amount


#: A number without a unit is GiB in a form. From here on nobody can mean GiB: it is the bytes of an address of before.
_SURELY_BYTES = 2**20


def typed_memory(text: str) -> str:
    """Memory as it is typed into a form, as the quantity that it means: 20, 20 GiB and 20gib are 20Gi. What is none stays."""
    found = typed.amount(text)
    if found is None:
        return text
    if not found.typed:
        return found.number if float(found.number) >= _SURELY_BYTES else f"{found.number}Gi"
    return f"{found.number}{found.unit}"


def asked_bytes(text: str) -> int | None:
    """An amount of memory in an address: a number without a unit is bytes; 20Gi and 20 GiB are the same. None when it is none."""
    found = typed.amount(text)
    return quantity.size(f"{found.number}{found.unit}" if found is not None and found.typed else text)


class SearchField(forms.CharField):
    """Free search: a list of words."""

    def clean(self, value: Any) -> list[str]:
        text = str(super().clean(value))
        _check_text(text)
        words = text.split()
        if len(words) > MAX_WORDS:
            raise ValidationError(_("At most %(n)d words.") % {"n": MAX_WORDS})
        return words


def _one_of(words: Iterable[str], value: str) -> str:
    wanted = _("Must be one of: %(words)s. Got: %(value)s.")
    return wanted % {"words": ", ".join(words), "value": repr(value[:64])}


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise ValidationError(_("At most %(n)d characters.") % {"n": MAX_LENGTH})
    if "\x00" in text:
        raise ValidationError(_("Must not contain a null character."))


class WordsFilter(df.Filter):
    """`?node=a&node=b`: rows whose column is one of these."""

    field_class = WordsField

    def __init__(self, field_name: str | None = None, **options: Any) -> None:
        options.setdefault("lookup_expr", "in")
        super().__init__(field_name, **options)

    def filter(self, qs: Any, value: Any) -> Any:
        return super().filter(qs, value) if value else qs


class PartsFilter(WordsFilter):
    """`?model=A100&model=H100`: rows whose column is one of these, or has it as a part where nothing is called so. One query more."""

    def filter(self, qs: Any, value: Any) -> Any:
        if not value:
            return qs
        name = self.field_name
        every = qs.model.objects.filter(**{f"{name}__in": value}).order_by()
        whole = set(every.values_list(name, flat=True).distinct())
        condition = Q()
        for word in value:
            condition |= Q(**{name: word}) if word in whole else Q(**{f"{name}__icontains": word})
        return qs.filter(condition)


class ChoiceFilter(WordsFilter):
    """The same with a closed list of words."""

    def __init__(self, words: Iterable[str], field_name: str | None = None, **options: Any) -> None:
        super().__init__(field_name, words=tuple(words), **options)


class YesNoFilter(df.Filter):
    """true, false or any; `default` is in force when the name is not given."""

    field_class = OneOfField

    def __init__(self, field_name: str, *, default: str = "any", **options: Any) -> None:
        super().__init__(field_name, words=("true", "false", "any"), default=default, **options)


class OneOfFilter(df.Filter):
    """Exactly one of a few words; `default` is in force when the name is not given."""

    field_class = OneOfField

    def __init__(self, words: Iterable[str], field_name: str, *, default: str, **options: Any) -> None:
        super().__init__(field_name, words=tuple(words), default=default, **options)


class BytesFilter(df.Filter):
    field_class = BytesField

    def __init__(self, field_name: str, **options: Any) -> None:
        super().__init__(field_name, max_length=40, **options)


class SearchFilter(df.Filter):
    field_class = SearchField


class ClusterField(WordsField):
    """Names of clusters to their ids. An unknown name is an error: an empty answer would look like "nothing there"."""

    def clean(self, value: Any) -> Any:
        names = super().clean(value)
        known = dict(Cluster.objects.values_list("name", "pk"))
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValidationError(
                _("No cluster %(name)s. Clusters: %(known)s.")
                % {"name": repr(unknown[0][:64]), "known": ", ".join(sorted(known))}
            )
        ids = {known[name] for name in names} if names else set(known.values())
        return ids if names or len(ids) == 1 else None


class ClusterNames(df.Filter):
    """Rows of these clusters. One alone becomes an equality: the indexes begin with it (so also when there is only one)."""

    field_class = ClusterField

    def filter(self, qs: Any, value: Any) -> Any:
        if value is None:
            return qs
        return qs.filter(cluster_id=next(iter(value))) if len(value) == 1 else qs.filter(cluster_id__in=value)


class StrictForm(forms.Form):
    """The form of a filter set: knows all its names, refuses others, and reads `ordering`."""

    orders: tuple[str, ...] = ()
    other_names: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()
    #: See `filter_sets`.
    of_now: frozenset[str] = frozenset()
    whether_over: str = ""

    def full_clean(self) -> None:
        super().full_clean()
        if moments.AT in self.fields:
            self._check_times()
        for name, text in self._wrong_names():
            self._refuse(name, text)
        self._read_order()

    def _wrong_names(self) -> list[tuple[str, str]]:
        known = set(self.fields) | self.other_names | {"ordering"}
        wrong = [
            (name, f"There is no filter of this name. There are: {', '.join(sorted(self.fields))}.")
            for name in self.data
        ]
        found = [(name, text) for name, text in wrong if name not in known]
        if isinstance(self.data, MultiValueDict):
            many = {name for name, field in self.fields.items() if isinstance(field, WordsField)}
            twice = [name for name, values in self.data.lists() if len(values) > 1 and name in known - many]
            found += [(name, _("Given twice. Must be a single value.")) for name in twice]
        return found

    def _check_times(self) -> None:
        for name, text in moments.wrong_together(self.cleaned_data):
            self._refuse(name, text)
        if not any(self.cleaned_data.get(name) for name in moments.NAMES):
            return
        if self.whether_over and not self.data.get(self.whether_over):
            self.cleaned_data[self.whether_over] = "any"
        ordered = [name.removeprefix("-") for name in str(self.data.get("ordering", "")).split(",")]
        text = _("Uses current data. Cannot be combined with a time.")
        for name in sorted(self.of_now.intersection(name for name in self.data if self.data.get(name))):
            self._refuse(name, text)
        if self.of_now.intersection(ordered):
            self._refuse("ordering", text)

    def _read_order(self) -> None:
        text = self.data.get("ordering", "")
        names = tuple(name for name in str(text).split(",") if name)
        plain = [name.removeprefix("-") for name in names]
        if any(name not in self.orders for name in plain) or len(set(plain)) != len(plain):
            wanted = ", ".join(self.orders)
            self._refuse("ordering", f"Must be names of {wanted}, each once, with - before it for descending.")
        else:
            self.order = names

    def _refuse(self, name: str, text: str) -> None:
        """Like add_error, for a name that need not be a field of the form."""
        errors: Any = self.errors
        errors.setdefault(name[:64], self.error_class()).append(text)
        self.cleaned_data.pop(name, None)
