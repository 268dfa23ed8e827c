"""A click log with a known true click probability: ad impressions over days."""
