"""What deploy/ holds for others: rules, dashboards, and the chart where no cluster is needed."""
