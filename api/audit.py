"""The audit log over REST: for administrators."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request

from accounts.required import needs
from accounts.roles import Role
from api.frame.base import ListView, listed
from resources.audit import AUDIT


@needs(Role.ADMIN)
class Audit(ListView):
    resource = AUDIT

    @listed(AUDIT, "Audit log entries, newest first. Role admin")
    def get(self, request: Request) -> Any:
        return self.list(request)
