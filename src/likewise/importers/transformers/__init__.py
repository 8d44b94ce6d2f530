"""Transformers: a fitted preprocessing, step by step, to the columns that reach the model.

`tracing` says what a column is on its way, one file a sort of transformer says what it does to columns,
`composing` follows pipelines and column transformers, `embedding` ends the way in exact columns.
"""
