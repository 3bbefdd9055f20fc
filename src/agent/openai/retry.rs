//! How long to wait before another try.

use std::time::{Duration, SystemTime};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A server may ask for more, but a turn does not sit there for hours.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(120);

/// The pause after that many tries: it doubles, and `jitter` from 0 to 1 takes up to half of it away,
/// so that many clients don't come back at once.
pub(super) fn pause(tries: u32, jitter: f64) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1_u32.checked_shl(tries.saturating_sub(1)).unwrap_or(u32::MAX));
    doubled.min(LONGEST_PAUSE).mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0)
}

/// Reads a `Retry-After` header: seconds or an HTTP date.
pub(super) fn asked(header: &str, now: SystemTime) -> Option<Duration> {
    let seconds = header.trim().parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n).ok());
    seconds.or_else(|| {
        let date = httpdate::parse_http_date(header.trim()).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_doubles_up_to_a_limit() {
        let pauses: Vec<u128> = (1..=9).map(|tries| pause(tries, 0.0).as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(pause(400, 0.0), LONGEST_PAUSE);
    }

    #[test]
    fn jitter_takes_up_to_half_away() {
        assert_eq!(pause(2, 0.5), Duration::from_millis(750));
        assert_eq!(pause(2, 1.0), Duration::from_millis(500));
    }

    #[test]
    fn a_server_asks_in_seconds_or_by_date() {
        let now = httpdate::parse_http_date("Sun, 01 Mar 2026 12:00:00 GMT").unwrap();
        let cases = [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("1.0", Some(1)),
            ("99999999", Some(99_999_999)),
            ("Sun, 01 Mar 2026 12:00:20 GMT", Some(20)),
            ("Sun, 01 Mar 2026 11:00:00 GMT", Some(0)),
            ("Mon, 02 Mar 2026 12:00:00 GMT", Some(24 * 60 * 60)),
            ("-3", None),
            ("soon", None),
            ("NaN", None),
            ("", None),
        ];
        for (header, seconds) in cases {
            assert_eq!(asked(header, now), seconds.map(Duration::from_secs), "{header:?}");
        }
    }
}
