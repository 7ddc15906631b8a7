"""Add a cluster, replace its kubeconfig, remove it: for administrators, where this process may hold credentials of clusters.

Elsewhere (a team's web process) the same pages show the command for the host of the watch worker, and do nothing. No page, message or
error repeats what was uploaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Min
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from accounts import sign_in_limit
from accounts.required import needs
from accounts.roles import Role
from accounts.sign_in_limit import Limit, TooManyTries, Use
from inventory import clusters
from inventory.connect import NotConnected, connect, reconnect
from inventory.kubeconfig_files import is_stored, may_store
from inventory.models import Card, Cluster, HistoryDay, Node, Subject
from kube.kubeconfig import BadKubeconfig
from kube.uploaded import MOST, Upload
from pages.clusters import found_cluster
from pages.frame.navigation import crumbs_of_clusters
from pages.frame.refusals import answered
from pages.frame.worded import worded_html
from pages.uploads import uploads
from stacks.engine.shell import command
from validations.models import Run
from validations.models.state import State
from wording.said import of_error

#: A file with one context and all that it refers to.
WRITE = "kubectl config view --raw --flatten --minify > cluster.kubeconfig"
#: How a team adds a cluster: (what for, commands).
RECIPE = (
    (gettext_lazy("Create a read-only service account for gpudash:"), ["kubectl apply -f deploy/watcher-role.yaml"]),
    (
        gettext_lazy("Create its kubeconfig for the folder or Secret of the watch worker:"),
        ["(umask 077; deploy/make-kubeconfig gpudash-watcher > NAME-watcher.kubeconfig)"],
    ),
    (
        gettext_lazy("On the host of the watch worker, add the cluster with the path of the file on that host:"),
        ["gpudash cluster add NAME --kubeconfig /etc/gpudash/watcher/NAME"],
    ),
    (gettext_lazy("Check the permissions:"), ["gpudash cluster check NAME"]),
    (
        gettext_lazy(
            "Optional, for validations: create a namespace for Jobs, and a service account that can create Jobs only there:"
        ),
        [
            "kubectl apply -f deploy/validation-namespace.yaml",
            "kubectl apply -f deploy/launcher-role.yaml",
            "(umask 077; deploy/make-kubeconfig gpudash-launcher > NAME-launcher.kubeconfig)",
            "gpudash cluster set NAME --launcher-kubeconfig /etc/gpudash/launcher/NAME",
        ],
    ),
)
#: Of one administrator. Each has this process call an address that the upload names.
UPLOADS = Limit(20, timedelta(minutes=15))


class HiddenText(forms.Textarea):
    """What was pasted is not in the page that comes back."""

    def format_value(self, value: Any) -> str:
        return ""


class KubeconfigForm(forms.Form):
    """A file or its text; then one of its contexts. upload: what was uploaded, once it is a kubeconfig."""

    file = forms.FileField(label=gettext_lazy("Kubeconfig file"), required=False)
    text = forms.CharField(
        label=gettext_lazy("Or its text"),
        required=False,
        strip=False,
        widget=HiddenText(attrs={"rows": 6, "autocomplete": "off", "spellcheck": "false"}),
    )
    context = forms.CharField(label=gettext_lazy("Context"), required=False, strip=False)

    def __init__(self, session: str, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._session = session
        self.upload: Upload | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        try:
            self.upload = uploads.take(self.data.get("kept", ""), self._session) or self._uploaded()
            if self.upload is not None and self.chosen:
                self.upload.only(self.chosen)
        except BadKubeconfig as error:
            self.upload = None
            self.add_error("file", worded_html(of_error(error)))
        return data

    def _uploaded(self) -> Upload | None:
        file, text = self.cleaned_data.get("file"), self.cleaned_data.get("text")
        if file and text:
            self.add_error("file", _("Choose a file or paste its text, not both."))
        elif file:
            return Upload(file.read(MOST + 1))
        elif text:
            return Upload(text.encode())
        elif not self.errors:
            expired = bool(self.data.get("kept"))
            self.add_error(
                "file", _("The upload has expired. Choose the file again.") if expired else _("Choose a file.")
            )
        return None

    @property
    def chosen(self) -> str:
        """The context: the one that was asked for, or the only one; "" where one is still to be chosen."""
        contexts = self.upload.contexts if self.upload else ()
        return self.cleaned_data.get("context") or (contexts[0].name if len(contexts) == 1 else "")

    def next_step(self) -> str:
        """Ask for a file, or for a context of the one that is there, which is kept meanwhile. Returns the word to find it by."""
        if self.upload is None:
            del self.fields["context"]
            return ""
        for name in ("file", "text"):
            del self.fields[name]
        choices = [
            (one.name, f"{one.name} · {one.address}" if one.address else one.name) for one in self.upload.contexts
        ]
        self.fields["context"].widget = forms.Select(choices=choices)
        sent: Any = self.data
        self.data = data = sent.copy()
        data["context"] = sent.get("context") or self.upload.current
        return uploads.keep(self.upload, self._session)


class NewClusterForm(KubeconfigForm):
    field_order = ("name", "file", "text", "context")
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=63,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": gettext_lazy("the name of the context")}),
    )


@needs(Role.ADMIN)
@never_cache
@sensitive_post_parameters("text")
@require_http_methods(["GET", "HEAD", "POST"])
def cluster_new(request: HttpRequest) -> HttpResponse:
    def add(form: KubeconfigForm, upload: Upload) -> Cluster:
        return connect(form.cleaned_data["name"] or clusters.name_from(form.chosen), upload, form.chosen)

    return _step(request, NewClusterForm, add)


@needs(Role.ADMIN)
@never_cache
@sensitive_post_parameters("text")
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def cluster_kubeconfig(request: HttpRequest, name: str) -> HttpResponseBase:
    cluster = found_cluster(name)
    return _step(request, KubeconfigForm, lambda form, upload: reconnect(cluster, upload, form.chosen), cluster)


@needs(Role.ADMIN)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@answered
def cluster_remove(request: HttpRequest, name: str) -> HttpResponseBase:
    """GET says what would be deleted."""
    cluster = found_cluster(name)
    if request.method == "POST":
        _check_may_store()
        clusters.remove(cluster)
        messages.info(request, _("Removed cluster %(name)s.") % {"name": cluster.name})
        return redirect("clusters")
    history = HistoryDay.objects.filter(cluster=cluster, subject=Subject.CLUSTER.value)
    page = {
        "cluster": cluster,
        "may_store": may_store(),
        "commands": [command("gpudash", "cluster", "remove", cluster.name)],
        "crumbs": crumbs_of_clusters(cluster.name, _("Remove cluster")),
        "back_url": reverse("cluster", args=[cluster.name]),
        "uploaded": is_stored(cluster.kubeconfig),
        "nodes": Node.objects.filter(cluster=cluster).count(),
        "cards": Card.objects.filter(cluster=cluster, removed_at=None).count(),
        "history_since": history.aggregate(day=Min("day"))["day"] or cluster.created_at,
        "runs": Run.objects.filter(cluster=cluster).count(),
        "active": Run.objects.filter(cluster=cluster).exclude(state=State.ENDED.value).count(),
    }
    return render(request, "clusters/remove.html", page)


def _step(
    request: HttpRequest,
    kind: type[KubeconfigForm],
    act: Callable[[KubeconfigForm, Upload], Cluster],
    cluster: Cluster | None = None,
) -> HttpResponse:
    """The form, the choice of a context, or the way to the cluster. cluster: whose kubeconfig is replaced; None for a new one."""
    session = request.session.session_key or ""
    if request.method != "POST":
        return _page(request, kind(session), cluster)
    _check_may_store()
    try:
        sign_in_limit.take([Use(f"kubeconfig #{request.user.pk}", UPLOADS)])
    except TooManyTries as error:
        told = _("Too many uploads. Try again in %d min.") % math.ceil(error.wait / timedelta(minutes=1))
        response = _page(request, kind(session), cluster, told, 429)
        response.headers["Retry-After"] = str(math.ceil(error.wait.total_seconds()))
        return response
    form = kind(session, request.POST, request.FILES)
    done = _done(form, act) if form.is_valid() and form.upload is not None and form.chosen else None
    if done is None:
        return _page(request, form, cluster, status=400 if form.errors else 200)
    named = {"name": done.name, "server": done.server}
    messages.info(request, _("%(name)s: %(server)s. Watchers start within seconds.") % named)
    return redirect("cluster", done.name)


def _done(form: KubeconfigForm, act: Callable[[KubeconfigForm, Upload], Cluster]) -> Cluster | None:
    """None where it cannot be, which the form then says."""
    assert form.upload is not None
    try:
        return act(form, form.upload)
    except ValidationError as error:
        form.add_error("name", error.messages)
    except NotConnected as error:
        form.add_error(None, worded_html(of_error(error)))
    return None


def _check_may_store() -> None:
    if not may_store():
        raise PermissionDenied


def _page(
    request: HttpRequest, form: KubeconfigForm, cluster: Cluster | None, blocked: str = "", status: int = 200
) -> HttpResponse:
    name = cluster.name if cluster else ""
    title = _("Replace kubeconfig") if cluster else _("Add cluster")
    page: dict[str, Any] = {
        "title": title,
        "act": _("Check and replace") if cluster else _("Check and add"),
        "form": form,
        "cluster": cluster,
        "blocked": blocked,
        "may_store": may_store(),
        "kept": form.next_step(),
        "most_kib": MOST >> 10,
        "recipe": RECIPE,
        "write_commands": [WRITE],
        "commands": [command("gpudash", "cluster", "add", name or "NAME", "--kubeconfig", "FILE")],
        "crumbs": crumbs_of_clusters(name, title),
        "back_url": reverse("cluster", args=[name]) if cluster else reverse("clusters"),
        "again_url": request.path,
    }
    return render(request, "clusters/kubeconfig.html", page, status=status)
