"""Addresses of the inventory below /api/v1/."""

from __future__ import annotations

from django.urls import path

from api.inventory import views
from api.inventory.charge import Chargeback
from api.inventory.fit import Fit, Moves
from api.inventory.forecast import Forecast
from api.inventory.history import CardHistory, ClusterHistory, NodeHistory
from api.inventory.prices import PriceDetail, Prices
from api.inventory.suspects import Suspects
from api.inventory.waste import Waste

urlpatterns = [
    path("summary", views.Summary.as_view(), name="api-summary"),
    path("clusters", views.Clusters.as_view(), name="api-clusters"),
    path("clusters/<str:name>", views.ClusterDetail.as_view(), name="api-cluster"),
    path("clusters/<str:name>/relist", views.ClusterRelist.as_view(), name="api-cluster-relist"),
    path("clusters/<str:name>/history", ClusterHistory.as_view(), name="api-cluster-history"),
    path("nodes", views.Nodes.as_view(), name="api-nodes"),
    path("nodes/<str:cluster>/<str:name>", views.NodeDetail.as_view(), name="api-node"),
    path("nodes/<str:cluster>/<str:name>/history", NodeHistory.as_view(), name="api-node-history"),
    path("cards", views.Cards.as_view(), name="api-cards"),
    path("cards/<int:card_id>", views.CardDetail.as_view(), name="api-card"),
    path("cards/<int:card_id>/history", CardHistory.as_view(), name="api-card-history"),
    path("allocations", views.Allocations.as_view(), name="api-allocations"),
    path("idle", views.Idle.as_view(), name="api-idle"),
    path("waste", Waste.as_view(), name="api-waste"),
    path("idle/sums", views.IdleSums.as_view(), name="api-idle-sums"),
    path("namespaces", views.Namespaces.as_view(), name="api-namespaces"),
    path("namespaces/chargeback", Chargeback.as_view(), name="api-chargeback"),
    path("prices", Prices.as_view(), name="api-prices"),
    path("prices/<int:price_id>", PriceDetail.as_view(), name="api-price"),
    path("fit", Fit.as_view(), name="api-fit"),
    path("suspects", Suspects.as_view(), name="api-suspects"),
    path("fit/moves", Moves.as_view(), name="api-fit-moves"),
    path("forecast", Forecast.as_view(), name="api-forecast"),
    path("pods", views.Pods.as_view(), name="api-pods"),
    path("pods/<int:pod_id>", views.PodDetail.as_view(), name="api-pod"),
    path("components", views.Components.as_view(), name="api-components"),
    path("node-changes", views.NodeChanges.as_view(), name="api-node-changes"),
    path("component-changes", views.ComponentChanges.as_view(), name="api-component-changes"),
    path("components/<int:component_id>", views.ComponentDetail.as_view(), name="api-component"),
    path("findings", views.Findings.as_view(), name="api-findings"),
]
