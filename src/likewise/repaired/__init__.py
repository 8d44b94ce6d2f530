"""Estimators whose answers do not depend on what similar individuals may differ in."""
