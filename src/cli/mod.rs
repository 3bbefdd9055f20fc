//! The same as the console, without a screen.
