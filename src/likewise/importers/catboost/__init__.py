"""CatBoost's models, from estimators and saved files: read (`model_file`), made trees over columns (`forest`), and asked (`answers`)."""
