//! A length of time in words, as every screen and every line of the command line writes it.

use chrono::TimeDelta;

/// How long something took: `0.3 s`, `12 s`, `1 min 02 s`, `2 h 05 min`. What is negative took no time.
pub fn took(length: TimeDelta) -> String {
    let milliseconds = length.num_milliseconds().max(0);
    match milliseconds / 1000 {
        seconds @ 0..10 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_the_units_that_matter() {
        for (milliseconds, words) in [
            (-60_000, "0.0 s"),
            (0, "0.0 s"),
            (320, "0.3 s"),
            (9_999, "9.9 s"),
            (12_900, "12 s"),
            (62_000, "1 min 02 s"),
            (7_500_000, "2 h 05 min"),
        ] {
            assert_eq!(took(TimeDelta::milliseconds(milliseconds)), words);
        }
    }
}
