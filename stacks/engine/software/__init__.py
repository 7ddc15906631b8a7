"""The software of a stack: what is declared of it (`base`), and how pods, Deployments and their absence are judged."""
