//! Where the records stand in the text of `jobs.json`, in each of its shapes.

use std::ops::Range;

use super::Shape;
use crate::domain::cron::unreadable::Unreadable;
use crate::domain::json::{Member, items, members, offset};

/// Where the records are.
pub(super) struct Found {
    pub(super) shape: Shape,
    /// The list or map, with its brackets.
    pub(super) inside: Range<usize>,
    pub(super) parts: Vec<Part>,
}

/// A record.
pub(super) struct Part {
    /// Its key, in a map by id.
    pub(super) key: Option<String>,
    pub(super) span: Range<usize>,
    /// It with its key.
    pub(super) whole: Range<usize>,
}

impl Found {
    /// `parsed` is the text from `start` on, with raw control characters blanked.
    pub(super) fn parse(text: &str, parsed: &str, start: usize) -> Result<Self, Unreadable> {
        let wrong = |error: serde_json::Error| {
            // The mark takes no place that a person counts, but the parser's count begins behind it.
            Unreadable::syntax(&text[start..], parsed, &error)
        };
        let refuse = |why: &str| {
            let offset = parsed.len() - parsed.trim_start().len();
            Unreadable::at(
                &text[start..],
                offset,
                why,
                Some("the jobs stand in { \"jobs\": [ … ] }".to_owned()),
            )
        };
        match parsed.trim_start().bytes().next() {
            Some(b'[') => Ok(Self::list(parsed, items(parsed).map_err(wrong)?, parsed, start)),
            Some(b'{') => {
                let found = members(parsed).map_err(wrong)?;
                let mut jobs = found.iter().filter(|member| member.name == "jobs");
                match (jobs.next(), jobs.next()) {
                    (Some(_), Some(_)) => Err(refuse("it has \"jobs\" twice")),
                    (Some(jobs), None) => Self::jobs(parsed, jobs.value, start).ok_or_else(|| {
                        refuse("its \"jobs\" must be a list of jobs, or an object with one for each id")
                    }),
                    (None, _) if found.is_empty() => {
                        Ok(Self { shape: Shape::Empty, ..Self::map(parsed, found, parsed, start) })
                    }
                    (None, _) if found.iter().all(is_object) => Ok(Self::map(parsed, found, parsed, start)),
                    (None, _) => Err(refuse("it has no \"jobs\"")),
                }
            }
            _ => match serde_json::from_str::<serde::de::IgnoredAny>(parsed) {
                Ok(_) => Err(refuse("no list of jobs")),
                Err(error) => Err(wrong(error)),
            },
        }
    }

    fn jobs(parsed: &str, jobs: &str, start: usize) -> Option<Self> {
        if let Ok(items) = items(jobs) {
            return Some(Self::list(parsed, items, jobs, start));
        }
        let members = members(jobs).ok()?;
        members.iter().all(is_object).then(|| Self::map(parsed, members, jobs, start))
    }

    fn list(parsed: &str, items: Vec<&str>, list: &str, start: usize) -> Self {
        let parts = items.into_iter().map(|item| {
            let span = span(parsed, item, start);
            Part { key: None, whole: span.clone(), span }
        });
        Self { shape: Shape::List, inside: span(parsed, list.trim(), start), parts: parts.collect() }
    }

    fn map(parsed: &str, members: Vec<Member<'_>>, map: &str, start: usize) -> Self {
        let parts = members.into_iter().map(|member| {
            let whole = member.span_in(parsed);
            Part {
                span: span(parsed, member.value, start),
                whole: whole.start + start..whole.end + start,
                key: Some(member.name.into_owned()),
            }
        });
        Self { shape: Shape::ById, inside: span(parsed, map.trim(), start), parts: parts.collect() }
    }
}

fn is_object(member: &Member<'_>) -> bool {
    member.value.starts_with('{')
}

fn span(parsed: &str, part: &str, start: usize) -> Range<usize> {
    let at = offset(parsed, part) + start;
    at..at + part.len()
}
