"""`gpudash token create USER`, `token list`, `token revoke ID`. The secret is printed once, alone, on standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.forms import DEFAULT_DAYS, MAX_DAYS
from accounts.models import ApiToken, TooManyTokens
from accounts.networks import BadNetwork, networks_in
from accounts.roles import Role, role_of
from accounts.scopes import BadScope, most_role, places_in
from inventory.management.shown import ShownCommand


class Command(ShownCommand):
    help = "API tokens: create, list, revoke"

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="create a token and print it once")
        create.add_argument("user")
        create.add_argument(
            "--role",
            choices=Role.values,
            default=Role.VIEWER.value,
            help="role, at most the role of the user (default: viewer)",
        )
        create.add_argument(
            "--expires",
            type=int,
            default=DEFAULT_DAYS,
            metavar="DAYS",
            help=f"days until the token expires (default: {DEFAULT_DAYS})",
        )
        create.add_argument(
            "--scope", nargs="+", default=[], metavar="PLACE", help="scope: cluster, cluster/namespace, */namespace"
        )
        create.add_argument(
            "--from", nargs="+", default=[], dest="networks", metavar="NETWORK", help="allowed addresses"
        )
        create.add_argument("--name", default="command line", help="name of the token")
        verbs.add_parser("list", help="list all tokens, without secrets")
        verbs.add_parser("revoke", help="revoke a token").add_argument("id", type=int)

    def handle(self, *args: Any, **options: Any) -> None:
        verb: Any = getattr(self, f"_{options['verb']}")
        verb(options)

    def _create(self, options: dict[str, Any]) -> None:
        user = get_user_model().objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user {options['user']!r}. Create one: gpudash user create NAME")
        role, own = Role(options["role"]), role_of(user)
        if own is None or not own.covers(role):
            raise CommandError(
                f"{user} has the role {own.value if own else 'none'}. The token cannot have the role {role.value}."
            )
        if not 1 <= options["expires"] <= MAX_DAYS:
            raise CommandError(f"--expires must be 1 to {MAX_DAYS} days.")
        places, networks = _limits(options, role)
        expires_at = timezone.now() + timedelta(days=options["expires"])
        try:
            token, secret = ApiToken.issue(
                user, options["name"][:100], role, expires_at, places=places, networks=networks
            )
        except TooManyTokens:
            raise CommandError(
                f"{user} has reached the limit of {settings.TOKENS_PER_USER} active tokens "
                "(GPUDASH_TOKENS_PER_USER). Revoke one: gpudash token list, gpudash token revoke ID"
            ) from None
        self.stderr.write(
            f"Token {token.pk} of {user}, role {role.value}{_told(token)}, until {expires_at:%Y-%m-%d}. "
            "It is not shown again:"
        )
        self.stdout.write(secret)

    def _list(self, options: dict[str, Any]) -> None:
        now = timezone.now()
        for token in ApiToken.objects.select_related("user").order_by("pk"):
            state = "valid" if token.usable(now) else "revoked" if token.revoked_at else "expired"
            used = f"{token.last_used_at:%Y-%m-%d %H:%M}" if token.last_used_at else "never"
            expires = f"{token.expires_at:%Y-%m-%d}"
            self.stdout.write(
                f"{token.pk}  {token.prefix}…  {token.user}  {token.role}{_told(token)}  {state}  until {expires}  "
                f"used {used}  {token.name}"
            )

    def _revoke(self, options: dict[str, Any]) -> None:
        token = ApiToken.objects.filter(pk=options["id"]).first()
        if token is None:
            raise CommandError(f"There is no token {options['id']}. To list tokens: gpudash token list")
        more = token.revoke() - 1
        self.stdout.write(
            f"Revoked token {token.pk}." + (f" Tokens created with it, also revoked: {more}." if more > 0 else "")
        )


def _limits(options: dict[str, Any], role: Role) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The places and the networks."""
    try:
        places, networks = places_in(" ".join(options["scope"])), networks_in(" ".join(options["networks"]))
    except BadScope as error:
        raise CommandError(f"--scope: {error}") from None
    except BadNetwork as error:
        raise CommandError(f"--from: {error}") from None
    most = most_role(places)
    if not most.covers(role):
        raise CommandError(f"--scope: for this scope the role can be at most {most.value}, not {role.value}.")
    return places, networks


def _told(token: ApiToken) -> str:
    """What it is limited to; "" for nothing."""
    limits = token.limits
    places, networks = limits.get("scope"), limits.get("networks")
    return (f" for {places}" if places else "") + (f" from {networks}" if networks else "")
