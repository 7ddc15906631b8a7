"""Addresses of the validations below /api/v1/."""

from __future__ import annotations

from django.urls import path

from api.validations import campaigns, runs

urlpatterns = [
    path("suites", runs.Suites.as_view(), name="api-suites"),
    path("suites/<str:suite_id>", runs.SuiteDetail.as_view(), name="api-suite"),
    path("runs", runs.Runs.as_view(), name="api-runs"),
    path("runs/preview", runs.RunPreview.as_view(), name="api-run-preview"),
    path("runs/<str:run_id>", runs.RunDetail.as_view(), name="api-run"),
    path("runs/<str:run_id>/compared", runs.RunCompared.as_view(), name="api-run-compared"),
    path("runs/<str:run_id>/cancel", runs.RunCancel.as_view(), name="api-run-cancel"),
    path("runs/<str:run_id>/rerun", runs.RunRerun.as_view(), name="api-run-rerun"),
    path("runs/<str:run_id>/reparse", runs.RunReparse.as_view(), name="api-run-reparse"),
    path("runs/<str:run_id>/log", runs.RunLogText.as_view(), name="api-run-log"),
    path("campaigns", campaigns.Campaigns.as_view(), name="api-campaigns"),
    path("campaigns/<str:campaign_id>", campaigns.CampaignDetail.as_view(), name="api-campaign"),
    path("campaigns/<str:campaign_id>/matrix", campaigns.CampaignMatrix.as_view(), name="api-campaign-matrix"),
    path("campaigns/<str:campaign_id>/report", campaigns.CampaignReport.as_view(), name="api-campaign-report"),
    *(
        path(
            f"campaigns/<str:campaign_id>/{verb}",
            campaigns.CampaignChange.as_view(),
            {"verb": verb},
            f"api-campaign-{verb}",
        )
        for verb in ("pause", "resume", "stop")
    ),
]
