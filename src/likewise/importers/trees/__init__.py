"""Tree ensembles: what a library has grown over the columns that reach it (`grown`, `reaching`), and the same over raw features (`raw`)."""
