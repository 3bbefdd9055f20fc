//! What is seen: the operator's screen.
