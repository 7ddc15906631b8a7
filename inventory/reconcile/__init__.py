"""Accounting: mirror rows → cards, allocations with history, node totals, findings. One reconciler per cluster, under a lease."""
