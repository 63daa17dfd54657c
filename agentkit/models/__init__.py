"""One protocol, many brains. `agentkit.Model` says what a model is; `get_model` chooses one."""
