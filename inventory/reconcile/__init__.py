"""Accounting: mirror rows → cards, allocations with history, node totals, findings. One accountant per cluster, under a lease."""
