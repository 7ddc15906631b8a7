"""Which nodes fit a request for cards now, and why others do not. Knows no page, no REST, and no stack by name."""
