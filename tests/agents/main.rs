//! What the agent backends do, from outside: the practice agent, programs, model servers, ACP agents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    missing_docs,
    unreachable_pub
)]

mod acp;
#[path = "../support/chat_server.rs"]
mod chat_server;
mod command;
mod context;
#[path = "../support/executable.rs"]
mod executable;
mod leavers;
mod openai;
mod peers;
mod practice;
mod stage;
mod tools;

use std::os::unix::process::CommandExt;
use std::process::Command;

use libtest_mimic::Arguments;

fn main() {
    begin_again_with_secrets();
    let arguments = Arguments::from_args();
    let tests = [
        practice::tests(),
        command::tests(),
        leavers::tests(),
        openai::tests(),
        context::tests(),
        tools::tests(),
        acp::tests(),
        peers::tests(),
    ];
    let tests = tests.into_iter().flatten().collect();
    libtest_mimic::run(&arguments, tests).exit();
}

/// Runs this program anew with secrets in its environment, which a program can't safely change while it runs.
fn begin_again_with_secrets() {
    if std::env::var_os(stage::SECRETS[0]).is_none() {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(std::env::args_os().skip(1)).envs(stage::SECRETS.map(|name| (name, stage::CANARY)));
        panic!("can't begin again: {}", again.exec());
    }
}
