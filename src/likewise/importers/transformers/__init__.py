"""Transformers: a fitted preprocessing, step by step, to the columns that reach the model.

`traced_columns` says what a column is on its way, one file a sort of transformer says what it does to columns,
`composition` follows pipelines and column transformers, `embedding` ends the way in exact columns.
"""
