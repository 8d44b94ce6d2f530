"""Importers: a fitted estimator of some library to the model as mathematics. One file a library or family."""
