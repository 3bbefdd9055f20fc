//! The binary: arguments to one call, and its exit code.

fn main() {}
