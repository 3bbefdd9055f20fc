//! Names of time zones.

use chrono_tz::Tz;

use crate::domain::nearest::nearest;

/// A name that no time zone has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no time zone {name:?}{}; write an IANA name such as Europe/Berlin",
    nearest.map(|nearest| format!(", did you mean {nearest}?")).unwrap_or_default()
)]
pub struct UnknownZone {
    /// The name as written.
    pub name: String,
    /// The name of a zone that looks most like it.
    pub nearest: Option<&'static str>,
}

/// Reads the IANA name of a time zone; old names such as `US/Eastern` count too.
pub fn parse_zone(name: &str) -> Result<Tz, UnknownZone> {
    name.parse().map_err(|_| UnknownZone {
        name: name.to_owned(),
        nearest: nearest(name, chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name())),
    })
}
