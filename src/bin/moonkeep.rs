//! The `moonkeep` command.
fn main() {}
