"""May somebody do it to this cluster? Asked as Django asks for things: `user.has_perm(permission, cluster)`.

For those below who know no scopes, such as a worker that launches what was asked for long ago. Signs nobody in.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import BaseBackend, ModelBackend

from accounts.roles import granted
from accounts.scopes import access
from inventory.models import Cluster


class ClusterBackend(BaseBackend):
    """Beside Django's own, which knows permissions of no particular thing."""

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        """Who sees namespaces of a cluster only does nothing to it."""
        if not isinstance(obj, Cluster) or not user_obj.has_perm(perm):
            return False
        return access(*granted(user_obj)).scope.sees_whole(obj.pk)


class ExternalBackend(ModelBackend):
    """Of sessions that somebody else's word began (`external`). It knows no passwords.

    A session holds the backend it came by, so those of passwords end where local accounts are switched off.
    """

    def authenticate(self, request: Any, username: Any = None, password: Any = None, **kwargs: Any) -> None:
        return None
