"""Addresses of the pages. A node's name comes last and may hold anything, so that a strange one still has its page."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path, re_path
from django.views.generic import TemplateView

from accounts.required import open_to_all
from pages import account, sign_in, single_sign_on
from pages.administration import administration
from pages.allocations import allocations, pending
from pages.audit import audit
from pages.brief import brief
from pages.campaign import campaign
from pages.campaign_new import campaign_new
from pages.campaign_report import campaign_certificate, campaign_report
from pages.campaigns import campaign_change, campaign_targets, campaigns
from pages.card import card
from pages.card_runs import card_runs
from pages.cards import cards
from pages.case import case, case_accept, case_decline, case_return
from pages.channel import channel, channel_edit, channel_new, channel_pause, channel_remove, channel_test
from pages.chargeback import chargeback
from pages.cluster_forms import cluster_kubeconfig, cluster_new, cluster_remove
from pages.clusters import cluster, cluster_relist, clusters
from pages.compare import card_compare, node_compare, run_compare
from pages.components import component_list, components
from pages.deliveries import deliveries, delivery, delivery_again
from pages.docs import doc, picture, words
from pages.findings import findings
from pages.fit import fit
from pages.heatmap import heat_map
from pages.history import history
from pages.idle import idle
from pages.installation import installation
from pages.namespaces import namespaces
from pages.node import node
from pages.nodes import nodes
from pages.notifications import notifications
from pages.out_of_service import cases, out_of_service, quarantine_reset, quarantine_switch
from pages.overview import overview
from pages.palette import keys, palette
from pages.pod import pod
from pages.policies import policies, policies_pause, policies_resume, policy_cards
from pages.policies_compare import policies_compare
from pages.policy import policy, policy_certificate, policy_edit, policy_new, policy_pause, policy_remove
from pages.prepare import prepare
from pages.results import result, results
from pages.rule import rule, rule_edit, rule_new, rule_pause, rule_remove
from pages.run import run, run_cancel, run_manifest, run_reparse, run_rerun
from pages.runlog import run_log, run_log_raw
from pages.saved_views import saved_view, saved_view_change, saved_views
from pages.scope_field import scope_reach
from pages.search import search
from pages.silences import finding_acknowledge, silence_end, silence_new, silences
from pages.suites import suites
from pages.suspects import suspects_page
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
    path("account/scope", scope_reach, name="account-scope"),
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
    path("validations/campaigns/<str:campaign_id>/targets", campaign_targets, name="campaign-targets"),
    path("validations/campaigns/<str:campaign_id>/report", campaign_report, name="campaign-report"),
    path("validations/campaigns/<str:campaign_id>/certificate", campaign_certificate, name="campaign-certificate"),
    path("validations/results", results, name="results"),
    path("validations/results/<str:result_id>", result, name="result"),
    path("validations/cards/<int:card_id>", card_runs, name="card-runs"),
    path("validations/compare", run_compare, name="run-compare"),
    path("validations/runs/<str:run_id>", run, name="run"),
    path("validations/runs/<str:run_id>/log", run_log, name="run-log"),
    path("validations/runs/<str:run_id>/log.txt", run_log_raw, name="run-log-raw"),
    path("validations/runs/<str:run_id>/manifest", run_manifest, name="run-manifest"),
    path("validations/runs/<str:run_id>/cancel", run_cancel, name="run-cancel"),
    path("validations/runs/<str:run_id>/rerun", run_rerun, name="run-rerun"),
    path("validations/runs/<str:run_id>/reparse", run_reparse, name="run-reparse"),
    path("out-of-service", out_of_service, name="out-of-service"),
    path("out-of-service/cases", cases, name="cases"),
    path("out-of-service/switch", quarantine_switch, name="quarantine-switch"),
    path("out-of-service/reset", quarantine_reset, name="quarantine-reset"),
    path("out-of-service/<str:case_id>", case, name="case"),
    path("out-of-service/<str:case_id>/accept", case_accept, name="case-accept"),
    path("out-of-service/<str:case_id>/decline", case_decline, name="case-decline"),
    path("out-of-service/<str:case_id>/return", case_return, name="case-return"),
    path("policies", policies, name="policies"),
    path("policies/new", policy_new, name="policy-new"),
    path("policies/cards", policy_cards, name="policy-cards"),
    path("policies/compare", policies_compare, name="policies-compare"),
    path("policies/pause-all", policies_pause, name="policies-pause"),
    path("policies/resume-all", policies_resume, name="policies-resume"),
    path("policies/<str:policy_id>", policy, name="policy"),
    path("policies/<str:policy_id>/edit", policy_edit, name="policy-edit"),
    path("policies/<str:policy_id>/certificate", policy_certificate, name="policy-certificate"),
    path("policies/<str:policy_id>/remove", policy_remove, name="policy-remove"),
    re_path(r"^policies/(?P<policy_id>[^/]+)/(?P<verb>pause|resume)$", policy_pause, name="policy-pause"),
    path("", overview, name="overview"),
    path("search", search, name="search"),
    path("nodes", nodes, name="nodes"),
    path("nodes/compare", node_compare, name="node-compare"),
    path("nodes/<str:cluster>/<path:name>", node, name="node"),
    path("cards", cards, name="cards"),
    path("cards/compare", card_compare, name="card-compare"),
    path("cards/<int:card_id>", card, name="card"),
    path("allocations", allocations, name="allocations"),
    path("allocations/pending", pending, name="pending"),
    path("allocations/idle", idle, name="idle"),
    path("namespaces", namespaces, name="namespaces"),
    path("namespaces/chargeback", chargeback, name="chargeback"),
    path("pods/<str:cluster>/<str:namespace>/<str:name>", pod, name="pod"),
    path("fit", fit, name="fit"),
    path("suspects", suspects_page, name="suspects"),
    path("map", heat_map, name="map"),
    path("map/brief", brief, name="brief"),
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
    path("administration/clusters/new", cluster_new, name="cluster-new"),
    path("users", users, name="users"),
    path("users/new", user_new, name="user-new"),
    path("users/<int:user_id>", user, name="user"),
    *(
        path(f"users/<int:user_id>/{verb}", user_act, {"verb": verb}, f"user-{verb}")
        for verb in ("deactivate", "activate", "end-sessions", "end-tokens")
    ),
    path("docs/words", words, name="words"),
    path("docs/pictures/<str:name>", picture, name="doc-picture"),
    path("docs/<path:name>", doc, name="doc"),
    path("api-docs", TemplateView.as_view(template_name="api_docs.html"), name="api-docs"),
    path("palette", palette, name="palette"),
    path("keys", keys, name="keys"),
    path("findings", findings, name="findings"),
    path("findings/<int:finding_id>/acknowledge", finding_acknowledge, name="finding-acknowledge"),
    path("silences", silences, name="silences"),
    path("silences/new", silence_new, name="silence-new"),
    path("silences/<int:silence_id>/end", silence_end, name="silence-end"),
    path("notifications", notifications, name="notifications"),
    path("notifications/channels/new", channel_new, name="channel-new"),
    path("notifications/channels/<str:channel_id>", channel, name="channel"),
    path("notifications/channels/<str:channel_id>/edit", channel_edit, name="channel-edit"),
    path("notifications/channels/<str:channel_id>/remove", channel_remove, name="channel-remove"),
    path("notifications/channels/<str:channel_id>/test", channel_test, name="channel-test"),
    re_path(
        r"^notifications/channels/(?P<channel_id>[^/]+)/(?P<verb>pause|resume)$", channel_pause, name="channel-pause"
    ),
    path("notifications/rules/new", rule_new, name="rule-new"),
    path("notifications/rules/<str:rule_id>", rule, name="rule"),
    path("notifications/rules/<str:rule_id>/edit", rule_edit, name="rule-edit"),
    path("notifications/rules/<str:rule_id>/remove", rule_remove, name="rule-remove"),
    re_path(r"^notifications/rules/(?P<rule_id>[^/]+)/(?P<verb>pause|resume)$", rule_pause, name="rule-pause"),
    path("notifications/deliveries", deliveries, name="deliveries"),
    path("notifications/deliveries/<str:delivery_id>", delivery, name="delivery"),
    path("notifications/deliveries/<str:delivery_id>/again", delivery_again, name="delivery-again"),
    path("components", components, name="components"),
    path("components/list", component_list, name="component-list"),
    path("clusters", clusters, name="clusters"),
    path("clusters/<str:name>", cluster, name="cluster"),
    path("clusters/<str:name>/relist", cluster_relist, name="cluster-relist"),
    path("clusters/<str:name>/kubeconfig", cluster_kubeconfig, name="cluster-kubeconfig"),
    path("clusters/<str:name>/remove", cluster_remove, name="cluster-remove"),
    path("clusters/<str:name>/prepare", prepare, name="cluster-prepare"),
]
