"""The model as mathematics: embedding -> body -> head, with exact evaluation."""
