"""Addresses of the pages. A node's name comes last and may hold anything, so that a strange one still has its page."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path, re_path

from accounts.required import open_to_all
from pages import account, sign_in, single_sign_on
from pages.administration import administration
from pages.allocations import allocations, pending
from pages.audit import audit
from pages.campaign_new import campaign_new
from pages.campaign_report import campaign_report
from pages.campaigns import campaign, campaign_change, campaigns
from pages.card import card
from pages.card_runs import card_runs
from pages.cards import cards
from pages.chargeback import chargeback
from pages.clusters import cluster, cluster_relist, clusters
from pages.components import component_list, components
from pages.docs import doc, words
from pages.findings import findings
from pages.fit import fit
from pages.heatmap import heat_map
from pages.history import history
from pages.idle import idle
from pages.installation import installation
from pages.namespaces import namespaces
from pages.node import node
from pages.nodes import nodes
from pages.overview import overview
from pages.palette import keys, palette
from pages.pod import pod
from pages.prepare import prepare
from pages.reference import reference
from pages.run import run, run_cancel, run_manifest, run_reparse, run_rerun
from pages.runlog import run_log, run_log_raw
from pages.saved_views import saved_view, saved_view_change, saved_views
from pages.search import search
from pages.suites import suites
from pages.two_factor import code, two_factor_page
from pages.user import user, user_act, user_new
from pages.users import users
from pages.validation_new import validation_new
from pages.validations import validations

urlpatterns = [
    path("sign-in", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/link/<str:token>", account.sign_in_by_link, name="sign-in-link"),
    path("sign-in/code", code, name="sign-in-code"),
    path("sign-in/oidc", single_sign_on.to_issuer, name="oidc"),
    path("sign-in/oidc/callback", single_sign_on.from_issuer, name="oidc-callback"),
    path("sign-out", open_to_all(LogoutView.as_view()), name="sign-out"),
    path("account", account.account, name="account"),
    path("account/password", sign_in.ChangePassword.as_view(), name="account-password"),
    path("account/two-factor", two_factor_page, name="account-two-factor"),
    path("account/theme", account.theme, name="account-theme"),
    path("account/tokens", account.create_token, name="account-tokens"),
    path("account/tokens/<int:token_id>/revoke", account.revoke_token, name="account-token-revoke"),
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
    path("validations/campaigns/<str:campaign_id>/report", campaign_report, name="campaign-report"),
    path("validations/cards/<int:card_id>", card_runs, name="card-runs"),
    path("validations/runs/<str:run_id>", run, name="run"),
    path("validations/runs/<str:run_id>/log", run_log, name="run-log"),
    path("validations/runs/<str:run_id>/log.txt", run_log_raw, name="run-log-raw"),
    path("validations/runs/<str:run_id>/manifest", run_manifest, name="run-manifest"),
    path("validations/runs/<str:run_id>/cancel", run_cancel, name="run-cancel"),
    path("validations/runs/<str:run_id>/rerun", run_rerun, name="run-rerun"),
    path("validations/runs/<str:run_id>/reparse", run_reparse, name="run-reparse"),
    path("", overview, name="overview"),
    path("search", search, name="search"),
    path("nodes", nodes, name="nodes"),
    path("nodes/<str:cluster>/<path:name>", node, name="node"),
    path("cards", cards, name="cards"),
    path("cards/<int:card_id>", card, name="card"),
    path("allocations", allocations, name="allocations"),
    path("allocations/pending", pending, name="pending"),
    path("allocations/idle", idle, name="idle"),
    path("namespaces", namespaces, name="namespaces"),
    path("namespaces/chargeback", chargeback, name="chargeback"),
    path("pods/<str:cluster>/<str:namespace>/<str:name>", pod, name="pod"),
    path("fit", fit, name="fit"),
    path("map", heat_map, name="map"),
    path("views", saved_views, name="saved-views"),
    path("views/<int:view_id>", saved_view, name="saved-view"),
    *(
        path(f"views/<int:view_id>/{verb}", saved_view_change, {"verb": verb}, f"saved-view-{verb}")
        for verb in ("rename", "overwrite", "remove")
    ),
    path("history", history, name="history"),
    path("audit", audit, name="audit"),
    path("installation", installation, name="installation"),
    path("administration", administration, name="administration"),
    path("users", users, name="users"),
    path("users/new", user_new, name="user-new"),
    path("users/<int:user_id>", user, name="user"),
    *(
        path(f"users/<int:user_id>/{verb}", user_act, {"verb": verb}, f"user-{verb}")
        for verb in ("deactivate", "activate", "end-sessions", "end-tokens")
    ),
    path("docs/words", words, name="words"),
    path("docs/<slug:name>", doc, name="doc"),
    path("api-docs", reference, name="api-docs"),
    path("palette", palette, name="palette"),
    path("keys", keys, name="keys"),
    path("findings", findings, name="findings"),
    path("components", components, name="components"),
    path("components/list", component_list, name="component-list"),
    path("clusters", clusters, name="clusters"),
    path("clusters/<str:name>", cluster, name="cluster"),
    path("clusters/<str:name>/relist", cluster_relist, name="cluster-relist"),
    path("clusters/<str:name>/prepare", prepare, name="cluster-prepare"),
]
