"""A model for people and other programs: text, SVG, SQL, JavaScript, JSON."""
