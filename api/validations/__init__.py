"""/api/v1/suites, /runs, /campaigns."""
