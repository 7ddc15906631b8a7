"""Looks over clusters: where promises and measurements do not go together, as rows that the node reconciler makes findings of."""
