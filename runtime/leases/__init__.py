"""Who may write: one lease in a row of the database, with a fence, for watchers, node reconcilers, launchers and the schedule."""
