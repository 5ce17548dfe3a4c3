"""The additive fit: convex minimization with a perturbed objective, rounded exactly.

fit -> minimizer -> rounding        the model that the noise decides
boosting, interactions, margins     tables that correct what the released model gets wrong
"""
