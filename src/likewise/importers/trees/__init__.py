"""Tree ensembles: what a library has grown over the columns that reach it (`grown`, `reached_columns`), and the same over raw features (`raw`)."""
