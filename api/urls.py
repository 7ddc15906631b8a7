"""/api/v1/: the endpoints of all apps, each with and without a slash at its end, and the OpenAPI document."""

from __future__ import annotations

from django.urls import URLPattern, path

from accounts.required import role_wanted
from accounts.roles import Role
from api import audit, root, saved_views, tokens, users
from api.frame import schema
from api.inventory import urls as inventory
from api.notifications import urls as notifications
from api.quarantine import urls as quarantine
from api.validations import urls as validations

_PATTERNS = [
    *inventory.urlpatterns,
    *validations.urlpatterns,
    *notifications.urlpatterns,
    *quarantine.urlpatterns,
    path("tokens", tokens.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:token_id>", tokens.TokenDetail.as_view(), name="api-token"),
    path("views", saved_views.Views.as_view(), name="api-views"),
    path("views/<int:view_id>", saved_views.ViewDetail.as_view(), name="api-view"),
    path("audit", audit.Audit.as_view(), name="api-audit"),
    path("users", users.Users.as_view(), name="api-users"),
    path("users/<int:user_id>", users.UserDetail.as_view(), name="api-user"),
    path("users/<int:user_id>/end-sessions", users.UserEndSessions.as_view(), name="api-user-end-sessions"),
    path("users/<int:user_id>/end-tokens", users.UserEndTokens.as_view(), name="api-user-end-tokens"),
    path("schema", schema.Document.as_view(), name="api-schema"),
]


def _with_slash(pattern: URLPattern) -> URLPattern:
    return path(f"{pattern.pattern}/", pattern.callback, pattern.default_args)


#: These need the node or card in their parameters, or a signing key.
_ELSE_NONE = ("usable", "usable.svg", "signing-key")
#: The addresses without a parameter that every role may read.
RESOURCES = tuple(
    name
    for name, wanted in ((str(pattern.pattern), role_wanted(pattern.callback)) for pattern in _PATTERNS)
    if "<" not in name and "/" not in name and wanted is Role.VIEWER and name not in _ELSE_NONE
)
#: With and without a slash, so it stands in `gpudash.urls` too.
root_view = root.Root.as_view(resources=RESOURCES)
urlpatterns = [*_PATTERNS, *(_with_slash(pattern) for pattern in _PATTERNS), path("", root_view)]
#: Importing it registers what the document is made with.
EXTENSIONS = (schema.StructExtension, schema.TokenScheme)
