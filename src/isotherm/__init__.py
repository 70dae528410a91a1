"""Label a whole graph from a few known nodes, by heat diffusion at equilibrium."""
