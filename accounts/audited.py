"""Signing in and out is written into the audit log, and what was refused.

A session is no row of this moment: Django keeps it when the request is answered. So the entry comes first, and who is killed in
between leaves an entry of a session that never was.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import msgspec
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed

from audit import who
from audit.actions import Action, Kind
from audit.acts import act, refuse

_NAME_CHARS = 150


def connect() -> None:
    """Listen to Django's signals. Called once, when the app is ready."""
    user_logged_in.connect(_signed_in, dispatch_uid="accounts.audited.in")
    user_logged_out.connect(_signed_out, dispatch_uid="accounts.audited.out")
    user_login_failed.connect(_refused, dispatch_uid="accounts.audited.refused")


def _as(user: Any) -> AbstractContextManager[None]:
    """The request came without a name that is checked: signing in and out are open to all."""
    return who.acting(msgspec.structs.replace(who.current(), name=user.get_username(), kind=Kind.SESSION.value))


def _signed_in(sender: Any, request: Any, user: Any, **_: Any) -> None:
    """By what, where it was no password: who signs in says so at the request (`signed_in_by`)."""
    with _as(user), act(Action.SIGN_IN, user.get_username(), by=getattr(request, "signed_in_by", "password")):
        pass


def _signed_out(sender: Any, request: Any, user: Any, **_: Any) -> None:
    if user is not None:
        with _as(user), act(Action.SIGN_OUT, user.get_username()):
            pass


def _refused(sender: Any, credentials: Any, **_: Any) -> None:
    """The name as it was typed, which may be a password in the wrong field: only of an account that is there."""
    from django.contrib.auth import get_user_model

    name = str(credentials.get("username", ""))[:_NAME_CHARS]
    known = get_user_model().objects.filter(username=name).exists()
    refuse(Action.SIGN_IN, name if known else "")
