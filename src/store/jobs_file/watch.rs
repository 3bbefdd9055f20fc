//! Noticing that the file was changed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use super::{JobsFile, Stamp};
use crate::config::files::folder_of;

/// Editors write in several steps: a change is told when nothing came for so long, and at the latest after so long.
const QUIET: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_millis(500);
/// Where the system can't tell of changes, the stamp is looked at this often.
const LOOK: Duration = Duration::from_secs(1);

/// Tells of each change of the file. It ends when it is dropped.
#[derive(Debug)]
pub struct Watch {
    file: JobsFile,
    told: Option<Stamp>,
    /// Where the link leads, if the file is one.
    target: Option<PathBuf>,
    signs: Signs,
}

#[derive(Debug)]
enum Signs {
    /// The system tells that something happened to the name: at most one sign waits, more say no more.
    Told { signs: mpsc::Receiver<()>, _watcher: RecommendedWatcher },
    /// It can't.
    Looked,
}

impl Watch {
    pub(super) fn of(file: JobsFile) -> Self {
        let told = file.stamp();
        let target = fs::canonicalize(&file.path).ok().filter(|target| *target != file.path);
        let signs = signs(&file.path, target.as_deref());
        Self { file, told, target, signs }
    }

    /// Waits until the file is another than at the last call, or than at the beginning. Nothing is lost if
    /// this is dropped while it waits.
    pub async fn changed(&mut self) {
        loop {
            let stamp = self.file.stamp();
            if stamp != self.told {
                self.settle().await;
                self.told = self.file.stamp();
                self.follow();
                return;
            }
            match &mut self.signs {
                Signs::Told { signs, .. } => {
                    if signs.recv().await.is_none() {
                        self.signs = Signs::Looked;
                    }
                }
                Signs::Looked => sleep(LOOK).await,
            }
        }
    }

    /// Waits until whoever writes is done.
    async fn settle(&mut self) {
        let Signs::Told { signs, .. } = &mut self.signs else { return };
        let latest = Instant::now() + LATEST;
        while let Ok(Some(())) = timeout_at(latest.min(Instant::now() + QUIET), signs.recv()).await {}
    }

    /// A link that leads elsewhere now is watched there.
    fn follow(&mut self) {
        let target = fs::canonicalize(&self.file.path).ok().filter(|target| *target != self.file.path);
        if target != self.target {
            self.signs = signs(&self.file.path, target.as_deref());
            self.target = target;
        }
    }
}

fn signs(path: &Path, target: Option<&Path>) -> Signs {
    let paths: Vec<&Path> = std::iter::once(path).chain(target).collect();
    watch(&paths).unwrap_or_else(|error| {
        tracing::warn!(%error, path = %path.display(), "changes of jobs.json are looked for each second");
        Signs::Looked
    })
}

/// Watches the folders, since editors put a new file in the place of the old one.
fn watch(paths: &[&Path]) -> notify::Result<Signs> {
    let names: Vec<OsString> = paths.iter().filter_map(|path| path.file_name()).map(OsString::from).collect();
    let (tell, signs) = mpsc::channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let concerns = match &event {
            Ok(event) if event.need_rescan() => true,
            Ok(event) => writes(event.kind) && event.paths.iter().any(|path| is_one_of(path, &names)),
            Err(_) => true,
        };
        if concerns {
            // Full: a sign waits already.
            let _ = tell.try_send(());
        }
    })?;
    for path in paths {
        watcher.watch(folder_of(path), RecursiveMode::NonRecursive)?;
    }
    Ok(Signs::Told { signs, _watcher: watcher })
}

/// Reading is no change; our own would wake us.
fn writes(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}

fn is_one_of(path: &Path, names: &[OsString]) -> bool {
    path.file_name().is_some_and(|name| names.iter().any(|known| known == name))
}
