"""Which learner to take: a published rule, and trials that are paid for."""
