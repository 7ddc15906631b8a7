"""Addresses of the pages of validations."""

from __future__ import annotations

from django.urls import path, re_path

from validations.views.campaign_new import campaign_new
from validations.views.campaigns import campaign, campaign_change, campaigns
from validations.views.history import card_runs
from validations.views.launch import validation_new
from validations.views.run import run, run_again, run_cancel, run_manifest, run_reparse
from validations.views.runlog import run_log, run_log_raw
from validations.views.runs import validations
from validations.views.suites import suites

urlpatterns = [
    path("validations", validations, name="validations"),
    path("validations/suites", suites, name="suites"),
    path("validations/new", validation_new, name="validation-new"),
    path("validations/campaigns", campaigns, name="campaigns"),
    path("validations/campaigns/new", campaign_new, name="campaign-new"),
    path("validations/campaigns/<str:campaign_id>", campaign, name="campaign"),
    re_path(
        r"^validations/campaigns/(?P<campaign_id>[^/]+)/(?P<verb>pause|resume|stop)$",
        campaign_change,
        name="campaign-change",
    ),
    path("validations/cards/<int:card_id>", card_runs, name="card-runs"),
    path("validations/runs/<str:run_id>", run, name="run"),
    path("validations/runs/<str:run_id>/log", run_log, name="run-log"),
    path("validations/runs/<str:run_id>/log.txt", run_log_raw, name="run-log-raw"),
    path("validations/runs/<str:run_id>/manifest", run_manifest, name="run-manifest"),
    path("validations/runs/<str:run_id>/cancel", run_cancel, name="run-cancel"),
    path("validations/runs/<str:run_id>/again", run_again, name="run-again"),
    path("validations/runs/<str:run_id>/reparse", run_reparse, name="run-reparse"),
]
