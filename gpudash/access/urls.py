"""Addresses of signing in and of the account."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from gpudash.access import sign_in, views
from gpudash.access.required import open_to_all

urlpatterns = [
    path("sign-in", sign_in.SignIn.as_view(), name="sign-in"),
    path("sign-in/link/<str:token>", views.sign_in_by_link, name="sign-in-link"),
    path("sign-out", open_to_all(LogoutView.as_view()), name="sign-out"),
    path("account", views.account, name="account"),
    path("account/password", sign_in.ChangePassword.as_view(), name="account-password"),
    path("account/theme", views.theme, name="account-theme"),
    path("account/tokens", views.create_token, name="account-tokens"),
    path("account/tokens/<int:token_id>/revoke", views.revoke_token, name="account-token-revoke"),
]
