"""How fast and how small the classifiers are, side by side with their peers: ``python -m benchmarks``."""
