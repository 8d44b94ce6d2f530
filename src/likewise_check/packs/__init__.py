"""What families of models add to the core: how their bodies are read, and the rules of their leaves. One pack a family, one line each in `core.registry`."""
