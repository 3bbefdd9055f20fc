//! What all programs that we run have in common: their pipes, their group, their environment.

pub(super) mod environment;
pub(super) mod group;
pub(super) mod launch;
pub(super) mod rest;
pub(super) mod tail;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use self::tail::Tail;

/// How long output may stay away after the program ended, while a process that left its group holds the pipe.
const LINGER: Duration = Duration::from_secs(1);
/// How much is read at once.
pub(super) const PIECE_BYTES: usize = 8 * 1024;

/// Writes all that a program is given and closes the pipe. One that does not read it is not at fault.
pub(super) async fn feed(stdin: Option<ChildStdin>, text: String, ended: &CancellationToken) {
    let Some(mut stdin) = stdin else { return };
    let write = async {
        let _ = stdin.write_all(text.as_bytes()).await;
        let _ = stdin.shutdown().await;
    };
    ended.run_until_cancelled(write).await;
}

/// Reads the last words on a program's standard error.
pub(super) async fn read_tail(stderr: Option<impl AsyncRead + Unpin>, ended: &CancellationToken) -> Tail {
    let mut tail = Tail::default();
    let Some(mut stderr) = stderr else { return tail };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match read(&mut stderr, &mut piece, ended).await {
            [] => return tail,
            bytes => tail.push(bytes),
        }
    }
}

/// Reads the next bytes; none at the end, on an error, and when nothing more comes after the program ended.
pub(super) async fn read<'a>(
    from: &mut (impl AsyncRead + Unpin),
    piece: &'a mut [u8],
    ended: &CancellationToken,
) -> &'a [u8] {
    let lingering = async {
        ended.cancelled().await;
        sleep(LINGER).await;
    };
    let length = tokio::select! {
        biased;
        read = from.read(piece) => read.unwrap_or(0),
        () = lingering => 0,
    };
    piece.get(..length).unwrap_or_default()
}

/// How a program ended that did not end well: `ended with exit code 3`; none if it did.
pub(super) fn bad_end(status: &io::Result<ExitStatus>) -> Option<String> {
    Some(match status {
        Ok(status) if status.success() => return None,
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("ended with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => format!("ended with {status}"),
        },
        Err(error) => format!("could not be waited for: {error}"),
    })
}
