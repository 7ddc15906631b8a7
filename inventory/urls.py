"""Addresses of the pages. A node's name comes last and may hold anything, so that a strange one still has its page."""

from __future__ import annotations

from django.urls import path

from inventory.views.allocations import allocations, waiting
from inventory.views.card import card
from inventory.views.cards import cards
from inventory.views.clusters import cluster, cluster_relist, clusters
from inventory.views.findings import findings
from inventory.views.node import node
from inventory.views.nodes import nodes
from inventory.views.overview import overview
from inventory.views.search import search

urlpatterns = [
    path("", overview, name="overview"),
    path("search", search, name="search"),
    path("nodes", nodes, name="nodes"),
    path("nodes/<str:cluster>/<path:name>", node, name="node"),
    path("cards", cards, name="cards"),
    path("cards/<int:card_id>", card, name="card"),
    path("allocations", allocations, name="allocations"),
    path("allocations/waiting", waiting, name="waiting"),
    path("findings", findings, name="findings"),
    path("clusters", clusters, name="clusters"),
    path("clusters/<str:name>", cluster, name="cluster"),
    path("clusters/<str:name>/relist", cluster_relist, name="cluster-relist"),
]
