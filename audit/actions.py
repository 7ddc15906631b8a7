"""What is written down, one word each, and the three ways in which it ends."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    """Reading is no action: nothing is written of it, but that it was refused."""

    SIGN_IN = "sign-in", _("sign in")
    SIGN_OUT = "sign-out", _("sign out")
    ACCESS = "access", _("denied access")
    PASSWORD = "password-change", _("change password")
    TWO_FACTOR = "two-factor", _("switch 2FA on or off")
    TOKEN_CREATE = "token-create", _("create token")
    TOKEN_REVOKE = "token-revoke", _("revoke token")
    USER_CREATE = "user-create", _("create user")
    USER_ROLE = "user-role", _("change role")
    USER_SCOPE = "user-scope", _("change scope")
    USER_STATE = "user-state", _("deactivate or activate user")
    SESSIONS_END = "sessions-end", _("end sessions")
    VIEW_SAVE = "view-save", _("save view")
    VIEW_REMOVE = "view-remove", _("remove view")
    RUN_LAUNCH = "run-launch", _("launch run")
    RUN_CANCEL = "run-cancel", _("cancel run")
    RUN_REPARSE = "run-reparse", _("parse log again")
    CAMPAIGN_CREATE = "campaign-create", _("start campaign")
    CAMPAIGN_CHANGE = "campaign-change", _("change campaign")
    RESULT_IMPORT = "result-import", _("import result")
    CERTIFICATE_SIGN = "certificate-sign", _("sign certificate")
    POLICY_CREATE = "policy-create", _("create policy")
    POLICY_CHANGE = "policy-change", _("change policy")
    POLICY_REMOVE = "policy-remove", _("remove policy")
    POLICY_SWITCH = "policy-switch", _("pause or resume all policies")
    CHANNEL_CREATE = "channel-create", _("create channel")
    CHANNEL_CHANGE = "channel-change", _("change channel")
    CHANNEL_REMOVE = "channel-remove", _("remove channel")
    CHANNEL_TEST = "channel-test", _("send message")
    RULE_CREATE = "rule-create", _("create rule")
    RULE_CHANGE = "rule-change", _("change rule")
    RULE_REMOVE = "rule-remove", _("remove rule")
    SILENCE_CREATE = "silence-create", _("silence findings")
    SILENCE_END = "silence-end", _("end silence")
    CASE_RECOMMEND = "case-recommend", _("recommend quarantine")
    CASE_WITHDRAW = "case-withdraw", _("withdraw recommendation")
    CASE_ACCEPT = "case-accept", _("accept recommendation")
    CASE_DECLINE = "case-decline", _("decline recommendation")
    CASE_MARK = "case-mark", _("mark node or card")
    CASE_RETURN = "case-return", _("return to service")
    CASE_UNMARK = "case-unmark", _("remove mark")
    QUARANTINE_CHANGE = "quarantine-change", _("change automatic quarantine")
    QUARANTINE_TRIP = "quarantine-trip", _("stop automatic quarantine")
    QUARANTINE_RESET = "quarantine-reset", _("reset automatic quarantine")
    PRICE_SET = "price-set", _("set price")
    PRICE_REMOVE = "price-remove", _("remove price")
    CLUSTER_SET = "cluster-set", _("add or change cluster")
    CLUSTER_REMOVE = "cluster-remove", _("remove cluster")
    CLUSTER_RELIST = "cluster-relist", _("relist cluster")
    CLUSTER_TAKE_OVER = "cluster-take-over", _("take over cluster")


class Outcome(models.TextChoices):
    """REFUSED: whoever asked may not, or the password was wrong."""

    DONE = "done", _("done")
    REFUSED = "refused", _("refused")


class Kind(models.TextChoices):
    """How somebody acts. PROCESS: gpudash itself, for nobody who is known."""

    SESSION = "session", _("browser")
    TOKEN = "token", _("token")
    COMMAND = "command", _("command line")
    ANONYMOUS = "anonymous", _("not signed in")
    PROCESS = "process", _("gpudash")
