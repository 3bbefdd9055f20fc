//! What the agent backends do, from outside: the practice agent, programs, model servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub)]

mod practice;
mod stage;

use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    let tests = [practice::tests()].into_iter().flatten().collect();
    libtest_mimic::run(&arguments, tests).exit();
}
