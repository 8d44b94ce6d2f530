"""Search: the portfolio of engines. Knows oracles and questions, no model family."""
