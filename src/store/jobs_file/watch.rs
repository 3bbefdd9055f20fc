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
    if let Some(path) = paths.iter().find(|path| is_elsewhere(folder_of(path))) {
        tracing::info!(path = %path.display(), "changes of a file of another machine are looked for each second");
        return Signs::Looked;
    }
    watch(&paths).unwrap_or_else(|error| {
        tracing::warn!(%error, path = %path.display(), "changes of jobs.json are looked for each second");
        Signs::Looked
    })
}

/// Whether a folder is another machine's: what happens there the system tells only of what was done here.
fn is_elsewhere(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::statfs(folder).is_ok_and(|found| is_remote(i128::from(found.f_type)));
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Whether a file system, by its magic number, has its files elsewhere: NFS, SMB, CIFS, FUSE, 9p, Ceph, AFS, Coda,
/// Lustre, VirtualBox.
#[cfg(target_os = "linux")]
fn is_remote(magic: i128) -> bool {
    const REMOTE: [i128; 11] = [
        0x6969,
        0x517B,
        0xFE53_4D42,
        0xFF53_4D42,
        0x6573_5546,
        0x0102_1997,
        0x00C3_6400,
        0x5346_414F,
        0x7375_7245,
        0x0BD0_0BD0,
        0x786F_4256,
    ];
    REMOTE.contains(&(magic & 0xFFFF_FFFF))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A watch of a file of which the system tells nothing.
    fn untold(file: &JobsFile) -> Watch {
        Watch { file: file.clone(), told: file.stamp(), target: None, signs: Signs::Looked }
    }

    #[tokio::test(start_paused = true)]
    async fn where_the_system_tells_nothing_a_change_is_noticed_within_a_second() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("jobs.json");
        let file = JobsFile::new(path.clone());
        let mut watch = untold(&file);
        for change in ["[]", "[ ]", ""] {
            let (began, path) = (Instant::now(), path.clone());
            let write = async move {
                sleep(LOOK / 2).await;
                if change.is_empty() { fs::remove_file(path) } else { fs::write(path, change) }
            };
            let ((), written) = tokio::join!(watch.changed(), write);
            written.unwrap();
            assert_eq!(began.elapsed(), LOOK, "{change:?}");
        }
        assert!(tokio::time::timeout(LOOK * 10, watch.changed()).await.is_err(), "nothing happened any more");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn files_of_other_machines_are_known_by_their_file_system() {
        let (nfs, cifs, fuse) = (0x6969, 0xFF53_4D42, 0x6573_5546);
        let (ext4, tmpfs, btrfs, overlay) = (0xEF53, 0x0102_1994, 0x9123_683E, 0x794C_7630);
        assert!([nfs, cifs, fuse, i128::from(0xFF53_4D42_u32 as i32)].into_iter().all(is_remote));
        assert!(![ext4, tmpfs, btrfs, overlay].into_iter().any(is_remote));
    }
}
