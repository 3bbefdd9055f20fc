//! A session as a document, written to the home's `exports/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::shared::Shared;
use super::slash::read;
use crate::config::files::{Replacement, folder_of};
use crate::domain::api::{Answer, Query, SessionRow};
use crate::domain::queue::Refusal;
use crate::domain::slash::ExportFormat;
use crate::store;

/// Writes a session's document and returns where it is. An earlier one of the same session is replaced.
pub(super) async fn write(
    shared: &Arc<Shared>,
    row: SessionRow,
    format: ExportFormat,
) -> Result<PathBuf, Refusal> {
    let session = row.session.id;
    let path = shared.settings.exports.join(format!("{session}.{}", format.extension()));
    let now = shared.now();
    let answer =
        read(shared, move |queries| store::answer(queries, Query::Export { session, format }, now)).await?;
    let Answer::Document(document) = answer else {
        return Err(Refusal::Store("the session could not be read as a document".to_owned()));
    };
    let target = path.clone();
    let written = tokio::task::spawn_blocking(move || replace(&target, &document)).await;
    match written {
        Ok(Ok(())) => Ok(path),
        Ok(Err(error)) => Err(Refusal::Store(format!("{}: {error}", path.display()))),
        Err(error) => Err(Refusal::Store(error.to_string())),
    }
}

/// Writes beside the target and renames, so that a full disk leaves the earlier document whole.
fn replace(path: &Path, document: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder_of(path))?;
    Replacement::of(path, document.as_bytes())?.take_place()
}
