"""Analyses beyond yes and no, built on the search and on verify, never on a model family."""
