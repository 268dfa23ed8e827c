"""The processes that train one model together: who they are, and whether they answer."""
