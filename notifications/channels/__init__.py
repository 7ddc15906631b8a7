"""Channels: one module for each kind, named once, here. Pure: no Django, no network, no clock."""

from __future__ import annotations

from notifications.channels import (
    alertmanager,
    dingtalk,
    email,
    feishu,
    pagerduty,
    slack,
    teams,
    webhook,
    wecom,
)
from notifications.channels.engine import Kind

#: In the order of forms.
KINDS: tuple[Kind, ...] = (
    email.KIND,
    slack.KIND,
    teams.KIND,
    dingtalk.KIND,
    feishu.KIND,
    wecom.KIND,
    pagerduty.KIND,
    alertmanager.KIND,
    webhook.KIND,
)
BY_NAME = {kind.name: kind for kind in KINDS}
