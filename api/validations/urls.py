"""Addresses of the validations below /api/v1/."""

from __future__ import annotations

from django.urls import path

from api.validations import campaigns, floors, policies, results, runs, signing, usable

urlpatterns = [
    path("suites", runs.Suites.as_view(), name="api-suites"),
    path("suites/<str:suite_id>", runs.SuiteDetail.as_view(), name="api-suite"),
    path("floors", floors.Floors.as_view(), name="api-floors"),
    path("baselines", floors.Baselines.as_view(), name="api-baselines"),
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
    path(
        "campaigns/<str:campaign_id>/certificate", campaigns.CampaignCertificate.as_view(), name="api-campaign-signed"
    ),
    *(
        path(
            f"campaigns/<str:campaign_id>/{verb}",
            campaigns.CampaignChange.as_view(),
            {"verb": verb},
            f"api-campaign-{verb}",
        )
        for verb in ("pause", "resume", "stop")
    ),
    path("policies", policies.Policies.as_view(), name="api-policies"),
    path("policies/preview", policies.PolicyPreviewed.as_view(), name="api-policy-preview"),
    path("policies/compare", policies.PoliciesCompared.as_view(), name="api-policies-compare"),
    *(
        path(f"policies/{verb}-all", policies.PoliciesSwitch.as_view(), {"verb": verb}, f"api-policies-{verb}")
        for verb in ("pause", "resume")
    ),
    path("policies/<str:policy_id>", policies.PolicyDetail.as_view(), name="api-policy"),
    path("policies/<str:policy_id>/cards", policies.PolicyCards.as_view(), name="api-policy-cards"),
    path("policies/<str:policy_id>/certificate", policies.PolicyCertificate.as_view(), name="api-policy-signed"),
    *(
        path(f"policies/<str:policy_id>/{verb}", policies.PolicyPause.as_view(), {"verb": verb}, f"api-policy-{verb}")
        for verb in ("pause", "resume")
    ),
    path("policy-counts", policies.PolicyCounts.as_view(), name="api-policy-counts"),
    path("results", results.Results.as_view(), name="api-results"),
    path("results/preview", results.ResultPreviewed.as_view(), name="api-result-preview"),
    path("results/<str:result_id>", results.ResultOne.as_view(), name="api-result"),
    path("results/<str:result_id>/original", results.ResultOriginal.as_view(), name="api-result-original"),
    path("signing-key", signing.SigningKey.as_view(), name="api-signing-key"),
    path("usable", usable.UsablePlace.as_view(), name="api-usable"),
    path("usable.svg", usable.UsableBadge.as_view(), name="api-usable-badge"),
]
