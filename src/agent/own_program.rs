//! The program's own file, which a restart runs in this process.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use std::{env, io};

use tokio::process::Command;
use tokio::time::timeout;

use super::program::environment::hide_secrets;

/// A program that can run says its version within this.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the system adds to the path of a program whose file was removed or made way for another one.
const AWAY: &[u8] = b" (deleted)";

/// Where this program stands, or stood when it was started: another one may be there now.
///
/// # Errors
/// Where the system does not tell.
pub fn this_program() -> io::Result<PathBuf> {
    let path = env::current_exe()?;
    let place = path.as_os_str().as_bytes().strip_suffix(AWAY);
    Ok(place.map_or_else(|| path.clone(), |place| OsStr::from_bytes(place).into()))
}

/// Refuses where nothing that can run stands in the program's place. `key_variables` are hidden from what stands there.
///
/// # Errors
/// What stands there instead, and what to do.
pub async fn refuse_without_program(key_variables: &[String]) -> Result<(), String> {
    let place = this_program().map_err(|error| error.to_string())?;
    if env::current_exe().is_ok_and(|path| path == place) {
        return Ok(());
    }
    let mut version = Command::new(&place);
    hide_secrets(&mut version, key_variables);
    version.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    version.kill_on_drop(true);
    let why = match timeout(PATIENCE, version.status()).await {
        Ok(Ok(status)) if status.success() => return Ok(()),
        Ok(Ok(status)) => format!("{status} when it was asked for its version"),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("it does not say its version within {} s", PATIENCE.as_secs()),
    };
    Err(format!("the program {}: {why}; put a whole one there", place.display()))
}
