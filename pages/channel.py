"""One channel: its settings without secrets, its delivery log; its form; test, pause, resume, delete. For administrators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.required import needs
from accounts.roles import Role
from notifications import manage, reading
from notifications.channels import BY_NAME
from notifications.channels.engine import Kind
from notifications.manage import ChannelDraft
from notifications.models import Channel
from pages.channel_form import ChannelForm
from pages.deliveries import SPEC
from pages.frame.listing import list_page
from pages.frame.refusals import NotThere, answered
from pages.frame.table import columns_of
from pages.notifications import channel_line, rule_line
from pages.words import notifications as words
from resources.notification import DELIVERIES
from validations.planning import Refused


def found_channel(channel_id: str) -> Channel:
    row = reading.channels().of_id(channel_id)
    if row is None:
        close = [(_("all channels"), reverse("notifications"))]
        raise NotThere(_("No channel %(id)s.") % {"id": channel_id[:64]}, "", close)
    return row


@needs(Role.ADMIN)
@require_safe
@answered
def channel(request: HttpRequest, channel_id: str) -> HttpResponseBase:
    row = found_channel(channel_id)
    spec = replace(
        SPEC,
        fields=tuple(one for one in SPEC.fields if one.name != "channel"),
        rows=lambda: reading.deliveries().filter(channel=row),
        columns=columns_of(DELIVERIES, [name for name in DELIVERIES.table if name != "channel"]),
        page="channels/page.html",
        part="channels/part.html",
    )

    def context(_found: Any) -> dict[str, Any]:
        return {
            "channel": row,
            "line": channel_line(row),
            "settings": _settings(row),
            "rules": [rule_line(one) for one in row.rules.select_related("channel").order_by("name")[:50]],
            "known": row.kind in BY_NAME,
        }

    return list_page(request, spec, context)


def _settings(row: Channel) -> list[tuple[str, str, bool]]:
    """(title, value, whether it is a secret, whose value is not shown)."""
    kind, secrets = BY_NAME.get(row.kind), manage.secrets_of(row)
    if kind is None:
        return [(name, str(value), False) for name, value in row.settings.items()]
    return [
        (_(one.title), "" if one.secret else str(row.settings[one.name]), one.secret)
        for one in kind.settings
        if one.name in (secrets if one.secret else row.settings)
    ]


@needs(Role.ADMIN)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def channel_new(request: HttpRequest) -> HttpResponseBase:
    """First the type, then its form."""
    kind = BY_NAME.get(request.GET.get("kind", ""))
    if kind is None:
        kinds = [(f"{reverse('channel-new')}?kind={one.name}", _(one.title)) for one in BY_NAME.values()]
        return render(request, "channels/kinds.html", {"kinds": kinds})
    return _form(request, None, kind, ChannelDraft(name="", kind=kind.name, language=request.LANGUAGE_CODE or "en"))


@needs(Role.ADMIN)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def channel_edit(request: HttpRequest, channel_id: str) -> HttpResponseBase:
    row = found_channel(channel_id)
    kind = BY_NAME.get(row.kind)
    if kind is None:
        raise NotThere(_("No type of channel %(name)s.") % {"name": row.kind})
    return _form(request, row, kind, manage.channel_draft(row))


def _form(request: HttpRequest, row: Channel | None, kind: Kind, before: ChannelDraft) -> HttpResponse:
    sent = request.method == "POST"
    secrets = list(manage.secrets_of(row)) if row else []
    form = ChannelForm(request.POST if sent else request.GET, kind, before, secrets)
    form.is_valid()
    if not sent:
        form.errors.clear()
    elif saved := _saved(request, form, row):
        return HttpResponseRedirect(reverse("channel", args=[saved.pk]))
    context = {
        "form": form,
        "channel": row,
        "kind": words.kind(kind.name),
        "title": _("Edit channel") if row else _("New channel"),
        "problems": form.problems(),
        "here": request.get_full_path(),
        "back_url": reverse("channel", args=[row.pk]) if row else reverse("channel-new"),
    }
    return render(request, "channels/form.html", context, status=400 if sent else 200)


def _saved(request: HttpRequest, form: ChannelForm, row: Channel | None) -> Channel | None:
    """None where it cannot be, which the form then says."""
    try:
        if row is None:
            return manage.create_channel(form.draft(), request.user)
        return manage.change_channel(row, form.draft())
    except Refused as error:
        form.refuse(error.problems)
        return None


@needs(Role.ADMIN)
@require_POST
@answered
def channel_test(request: HttpRequest, channel_id: str) -> HttpResponseBase:
    """To its delivery, which says what was answered."""
    made = manage.test_channel(found_channel(channel_id))
    return HttpResponseRedirect(reverse("delivery", args=[made.pk]))


@needs(Role.ADMIN)
@require_POST
@answered
def channel_pause(request: HttpRequest, channel_id: str, verb: str) -> HttpResponseBase:
    row = found_channel(channel_id)
    manage.pause_channel(row, verb == "pause")
    return HttpResponseRedirect(reverse("channel", args=[row.pk]))


@needs(Role.ADMIN)
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def channel_remove(request: HttpRequest, channel_id: str) -> HttpResponseBase:
    """GET says what would be deleted."""
    row = found_channel(channel_id)
    if request.method == "POST":
        manage.remove_channel(row)
        messages.info(request, _("Deleted channel %(name)s.") % {"name": row.name})
        return HttpResponseRedirect(reverse("notifications"))
    context = {"channel": row, "rules": row.rules.count(), "deliveries": row.deliveries.count()}
    return render(request, "channels/remove.html", context)
