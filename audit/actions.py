"""What is written down, one word each, and the three ways in which it ends."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Action(models.TextChoices):
    """Reading is no action: nothing is written of it, but that it was refused."""

    SIGN_IN = "sign-in", _("sign in")
    SIGN_OUT = "sign-out", _("sign out")
    ACCESS = "access", _("use without the role for it")
    PASSWORD = "password-change", _("change the password")
    SECOND_STEP = "second-step", _("switch the second step on or off")
    TOKEN_MAKE = "token-make", _("make a token")
    TOKEN_REVOKE = "token-revoke", _("revoke a token")
    USER_MAKE = "user-make", _("make a user")
    USER_ROLE = "user-role", _("give a role")
    USER_SCOPE = "user-scope", _("say what a role is for")
    USER_STATE = "user-state", _("deactivate or activate a user")
    SESSIONS_END = "sessions-end", _("end the sessions of a user")
    VIEW_SAVE = "view-save", _("save a view")
    VIEW_REMOVE = "view-remove", _("remove a view")
    RUN_LAUNCH = "run-launch", _("launch a run")
    RUN_CANCEL = "run-cancel", _("cancel a run")
    RUN_REPARSE = "run-reparse", _("read a log again")
    CAMPAIGN_MAKE = "campaign-make", _("start a campaign")
    CAMPAIGN_CHANGE = "campaign-change", _("change a campaign")
    CLUSTER_SET = "cluster-set", _("add or change a cluster")
    CLUSTER_REMOVE = "cluster-remove", _("remove a cluster")
    CLUSTER_RELIST = "cluster-relist", _("list a cluster anew")
    CLUSTER_TAKE_OVER = "cluster-take-over", _("take a cluster over")


class Outcome(models.TextChoices):
    """REFUSED: whoever asked may not, or the password was wrong."""

    DONE = "done", _("done")
    REFUSED = "refused", _("refused")


class Kind(models.TextChoices):
    """How somebody acts. PROCESS: gpudash itself, for nobody who is known."""

    SESSION = "session", _("browser")
    TOKEN = "token", _("token")
    COMMAND = "command", _("command line")
    NOBODY = "nobody", _("not signed in")
    PROCESS = "process", _("gpudash")
