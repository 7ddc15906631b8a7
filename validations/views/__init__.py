"""Pages of the validations: suites, runs, campaigns, and what was ever proven of a card. They read rows and call no cluster."""
