"""Cards and nodes on which workloads of several namespaces fail more often than elsewhere: a reason to validate, no verdict."""
