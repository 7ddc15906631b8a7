"""Addresses of what is out of service below /api/v1/."""

from __future__ import annotations

from django.urls import path

from api.quarantine import cases

urlpatterns = [
    path("out-of-service", cases.Cases.as_view(), name="api-cases"),
    path("out-of-service/<str:case_id>", cases.CaseDetail.as_view(), name="api-case"),
    path("out-of-service/<str:case_id>/accept", cases.CaseAccept.as_view(), name="api-case-accept"),
    path("out-of-service/<str:case_id>/decline", cases.CaseDecline.as_view(), name="api-case-decline"),
    path("out-of-service/<str:case_id>/return", cases.CaseReturn.as_view(), name="api-case-return"),
    path("node-marks", cases.NodeMarks.as_view(), name="api-node-marks"),
    path("quarantine", cases.Quarantine.as_view(), name="api-quarantine"),
    path("quarantine/reset", cases.QuarantineReset.as_view(), name="api-quarantine-reset"),
]
