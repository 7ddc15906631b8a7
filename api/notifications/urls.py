"""Addresses of the notifications below /api/v1/."""

from __future__ import annotations

from django.urls import path

from api.notifications import channels, deliveries, rules, silences

urlpatterns = [
    path("channels", channels.Channels.as_view(), name="api-channels"),
    path("channels/<str:channel_id>", channels.ChannelDetail.as_view(), name="api-channel"),
    path("channels/<str:channel_id>/test", channels.ChannelTest.as_view(), name="api-channel-test"),
    path("notification-rules", rules.Rules.as_view(), name="api-notification-rules"),
    path("notification-rules/preview", rules.RulePreviewed.as_view(), name="api-notification-rule-preview"),
    path("notification-rules/<str:rule_id>", rules.RuleDetail.as_view(), name="api-notification-rule"),
    path("deliveries", deliveries.Deliveries.as_view(), name="api-deliveries"),
    path("deliveries/<str:delivery_id>", deliveries.DeliveryDetail.as_view(), name="api-delivery"),
    path("deliveries/<str:delivery_id>/send-again", deliveries.DeliveryAgain.as_view(), name="api-delivery-send-again"),
    path("silences", silences.Silences.as_view(), name="api-silences"),
    path("silences/<int:silence_id>", silences.SilenceDetail.as_view(), name="api-silence"),
    path("silences/<int:silence_id>/end", silences.SilenceEnd.as_view(), name="api-silence-end"),
    path(
        "findings/<int:finding_id>/acknowledge", silences.FindingAcknowledge.as_view(), name="api-finding-acknowledge"
    ),
]
