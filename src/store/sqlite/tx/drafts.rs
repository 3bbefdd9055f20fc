//! What a composer holds and remembers.

use super::super::columns::Millis;
use super::Tx;
use crate::domain::Time;
use crate::domain::id::SessionKey;
use crate::store::Result;

impl Tx<'_> {
    pub(super) fn note_look(&mut self, at: Time) -> Result<()> {
        self.execute("UPDATE house SET looked_at = ?1", (Millis(at),)).map(|_| ())
    }

    pub(super) fn save_draft(&mut self, key: &SessionKey, text: &str, at: Time) -> Result<()> {
        if text.is_empty() {
            self.execute("DELETE FROM drafts WHERE key = ?1", (key,))?;
            return Ok(());
        }
        self.execute(
            "INSERT INTO drafts (key, text, at) VALUES (?1, ?2, ?3)
             ON CONFLICT (key) DO UPDATE SET text = excluded.text, at = excluded.at",
            (key, text, Millis(at)),
        )?;
        Ok(())
    }

    pub(super) fn remember_draft(&mut self, key: &SessionKey, text: &str, at: Time) -> Result<()> {
        self.execute(
            "INSERT INTO remembered_drafts (key, text, at) VALUES (?1, ?2, ?3)",
            (key, text, Millis(at)),
        )?;
        self.execute(
            "DELETE FROM remembered_drafts WHERE key = ?1 AND id NOT IN (
                 SELECT id FROM remembered_drafts WHERE key = ?1 ORDER BY id DESC LIMIT 200)",
            (key,),
        )?;
        Ok(())
    }
}
