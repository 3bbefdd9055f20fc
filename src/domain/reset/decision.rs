//! The decision: is a session reset when a message arrives?

use chrono::TimeDelta;
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::{Background, Blocker, Mark, ResetPolicy, ResetRule, TurnNow, next_boundary};
use crate::domain::Time;

/// How long a reset may be blocked before that is an alert.
pub const ALERT_AFTER: TimeDelta = TimeDelta::hours(24);

/// Why a session was reset by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetReason {
    /// Its last activity was too long ago.
    Idle,
    /// The daily boundary has passed.
    Daily,
    /// It was given up.
    Suspended,
}

impl ResetReason {
    /// The word in events and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Daily => "daily",
            Self::Suspended => "suspended",
        }
    }
}

/// What is stored and known of a session when a message arrives, before anything of it is touched.
#[derive(Debug, Clone, Copy)]
pub struct ResetFacts<'a> {
    /// When this id began, or was taken up again by `/resume`.
    pub began_at: Time,
    /// When a person or the agent last acted in it.
    pub last_activity_at: Time,
    /// Whether a turn runs.
    pub turn: TurnNow,
    /// Its mark of a turn that was cut off.
    pub mark: Mark,
    /// Its background work.
    pub background: &'a Background,
}

/// What a message meets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The session as it is: no reset is due.
    Keep,
    /// A new id under the same key.
    Reset {
        /// Why.
        reason: ResetReason,
    },
    /// The session as it is, though a reset is due.
    Blocked(Block),
}

/// A reset that is due and does not come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Why it is due.
    pub reason: ResetReason,
    /// What stands against it.
    pub by: Blocker,
    /// Since when: the reset was due and this stood against it.
    pub since: Time,
}

impl Block {
    /// Whether it has lasted so long that the operator must be alerted: [`ALERT_AFTER`].
    pub fn is_alarming(&self, now: Time) -> bool {
        now - self.since >= ALERT_AFTER
    }
}

/// The reset that the stored times ask for; idle is tested first.
///
/// Idle: *more than* the idle minutes have passed since the last activity, or since `/resume` took the
/// id up again: whoever brings an old memory back finds it there on the next message. Daily: the wall
/// clock of `zone` has passed the hour since the id began; activity never pushes that boundary.
pub fn due(
    policy: &ResetPolicy,
    began_at: Time,
    last_activity_at: Time,
    now: Time,
    zone: Tz,
) -> Option<ResetReason> {
    Moments::of(policy, began_at, last_activity_at, zone).due(now).map(|(reason, _)| reason)
}

/// What a message at `now` meets. A session that was given up takes no message any more: nothing stands
/// against its reset. A running turn is never cut by a policy, a fresh mark blocks it (a stale one
/// doesn't), and active or unknown background work blocks it.
pub fn decide(rule: &ResetRule, facts: &ResetFacts<'_>, now: Time) -> Verdict {
    if facts.mark == Mark::Suspended {
        return Verdict::Reset { reason: ResetReason::Suspended };
    }
    let moments = Moments::of(&rule.policy, facts.began_at, facts.last_activity_at, rule.zone);
    let Some((reason, due_since)) = moments.due(now) else { return Verdict::Keep };
    let Some(by) = blocker(rule, facts, now) else { return Verdict::Reset { reason } };
    let stands_since = match &by {
        Blocker::Background { work } => work.iter().map(|work| work.since).min(),
        Blocker::RunningTurn | Blocker::ResumePending | Blocker::Unknown { .. } => None,
    };
    let since = stands_since.map_or(due_since, |since| since.max(due_since));
    Verdict::Blocked(Block { reason, by, since })
}

fn blocker(rule: &ResetRule, facts: &ResetFacts<'_>, now: Time) -> Option<Blocker> {
    match (facts.turn, facts.mark) {
        (TurnNow::Running, _) => Some(Blocker::RunningTurn),
        (TurnNow::None, Mark::Fresh) => Some(Blocker::ResumePending),
        (TurnNow::None, Mark::None | Mark::Stale | Mark::Suspended) => {
            facts.background.blocker(rule.background_max_age, now)
        }
    }
}

/// Since when nobody has acted, or taken the id up again.
pub(super) fn idle_since(began_at: Time, last_activity_at: Time) -> Time {
    last_activity_at.max(began_at)
}

/// When the clauses of a policy come true, as far as it has them.
pub(super) struct Moments {
    /// Idle: just after this.
    pub(super) idle_after: Option<Time>,
    /// Daily: from this on.
    pub(super) boundary: Option<Time>,
}

impl Moments {
    pub(super) fn of(policy: &ResetPolicy, began_at: Time, last_activity_at: Time, zone: Tz) -> Self {
        let idle = TimeDelta::minutes(policy.idle_minutes.into());
        let idle_since = idle_since(began_at, last_activity_at);
        let idle_after = policy.tests_idle().then(|| idle_since.checked_add_signed(idle)).flatten();
        let boundary = policy.tests_daily().then(|| next_boundary(began_at, policy.at_hour, zone)).flatten();
        Self { idle_after, boundary }
    }

    /// The first clause that is true, and since when any is.
    fn due(&self, now: Time) -> Option<(ResetReason, Time)> {
        let idle = self.idle_after.filter(|&after| now > after);
        let daily = self.boundary.filter(|&boundary| now >= boundary);
        let reason = if idle.is_some() { ResetReason::Idle } else { ResetReason::Daily };
        let since = idle.into_iter().chain(daily).min()?;
        Some((reason, since))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ResetMode, Work};
    use super::*;
    use chrono::DateTime;
    use proptest::prelude::*;
    use std::time::Duration;

    fn at(text: &str) -> Time {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    fn policy(mode: ResetMode, idle_minutes: u32, at_hour: u8) -> ResetPolicy {
        ResetPolicy { mode, idle_minutes, at_hour }
    }

    fn rule(policy: ResetPolicy, background_max_age: Option<Duration>) -> ResetRule {
        ResetRule { policy, background_max_age, zone: Tz::UTC }
    }

    const HOURS_24: Option<Duration> = Some(Duration::from_secs(24 * 3600));

    /// A session that began with its last activity, and against whose reset nothing stands.
    fn facts(since: Time) -> ResetFacts<'static> {
        ResetFacts {
            began_at: since,
            last_activity_at: since,
            turn: TurnNow::None,
            mark: Mark::None,
            background: &Background::None,
        }
    }

    fn active(what: &str, since: &str) -> Background {
        Background::Active { work: vec![Work { what: what.to_owned(), since: at(since) }] }
    }

    /// A session that takes messages one after the other: when each new id begins by the policy.
    fn resets(policy: &ResetPolicy, zone: Tz, messages: impl IntoIterator<Item = Time>) -> Vec<String> {
        let mut messages = messages.into_iter();
        let mut began = messages.next().unwrap();
        let mut last_activity = began;
        let mut told = Vec::new();
        for now in messages {
            if due(policy, began, last_activity, now, zone).is_some() {
                began = now;
                told.push(now.with_timezone(&zone).to_rfc3339());
            }
            last_activity = now;
        }
        told
    }

    #[test]
    fn the_daily_hour_is_meant_in_the_operators_zone() {
        let daily = policy(ResetMode::Daily, 1440, 4);
        let last = at("2026-05-17T23:30:00+07:00");
        let due = |now, zone| due(&daily, last, last, at(now), zone);
        assert_eq!(due("2026-05-18T03:55:00+07:00", Tz::Asia__Bangkok), None);
        assert_eq!(due("2026-05-18T04:05:00+07:00", Tz::Asia__Bangkok), Some(ResetReason::Daily));
        // The host's zone says otherwise, and is not asked.
        assert_eq!(due("2026-05-18T04:05:00+07:00", Tz::Europe__Berlin), None);
    }

    #[test]
    fn an_hour_that_does_not_exist_resets_once() {
        let daily = policy(ResetMode::Daily, 1440, 2);
        let messages = [
            "2026-03-29T01:50:00+01:00",
            "2026-03-29T03:05:00+02:00",
            "2026-03-29T03:30:00+02:00",
            "2026-03-29T23:59:00+02:00",
        ];
        assert_eq!(resets(&daily, Tz::Europe__Berlin, messages.map(at)), ["2026-03-29T03:05:00+02:00"]);
    }

    #[test]
    fn an_hour_that_comes_twice_resets_at_most_once_that_day() {
        let daily = policy(ResetMode::Daily, 1440, 2);
        let messages = ["2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00"];
        assert!(resets(&daily, Tz::Europe__Berlin, messages.map(at)).is_empty());
        let from_the_day_before =
            ["2026-10-24T12:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T02:10:00+01:00"];
        assert_eq!(
            resets(&daily, Tz::Europe__Berlin, from_the_day_before.map(at)),
            ["2026-10-25T02:30:00+02:00"]
        );
    }

    #[test]
    fn the_minute_before_the_boundary_keeps_and_the_boundary_resets_also_where_clocks_change() {
        for (zone, at_hour, began, before, boundary) in [
            (
                Tz::Europe__Berlin,
                2,
                "2026-03-28T09:00+01:00",
                "2026-03-29T01:59+01:00",
                "2026-03-29T03:00+02:00",
            ),
            (
                Tz::Europe__Berlin,
                2,
                "2026-10-24T09:00+02:00",
                "2026-10-25T01:59+02:00",
                "2026-10-25T02:00+02:00",
            ),
            (
                Tz::Europe__Berlin,
                4,
                "2026-10-24T09:00+02:00",
                "2026-10-25T03:59+01:00",
                "2026-10-25T04:00+01:00",
            ),
            (
                Tz::America__Chicago,
                2,
                "2026-03-07T09:00-06:00",
                "2026-03-08T01:59-06:00",
                "2026-03-08T03:00-05:00",
            ),
            (
                Tz::America__Chicago,
                1,
                "2026-10-31T09:00-05:00",
                "2026-11-01T00:59-05:00",
                "2026-11-01T01:00-05:00",
            ),
            (
                Tz::Asia__Bangkok,
                4,
                "2026-03-28T09:00+07:00",
                "2026-03-29T03:59+07:00",
                "2026-03-29T04:00+07:00",
            ),
            (
                Tz::Australia__Lord_Howe,
                2,
                "2026-10-03T09:00+10:30",
                "2026-10-04T01:59+10:30",
                "2026-10-04T02:30+11:00",
            ),
            (
                Tz::Australia__Lord_Howe,
                1,
                "2026-04-04T09:00+11:00",
                "2026-04-05T00:59+11:00",
                "2026-04-05T01:00+11:00",
            ),
            (
                Tz::Australia__Lord_Howe,
                2,
                "2026-04-04T09:00+11:00",
                "2026-04-05T01:59+10:30",
                "2026-04-05T02:00+10:30",
            ),
            (
                Tz::Africa__Cairo,
                0,
                "2026-04-23T09:00+02:00",
                "2026-04-23T23:59+02:00",
                "2026-04-24T01:00+03:00",
            ),
            (
                Tz::Africa__Cairo,
                0,
                "2026-10-29T09:00+03:00",
                "2026-10-29T23:59+02:00",
                "2026-10-30T00:00+02:00",
            ),
            (
                Tz::Africa__Cairo,
                23,
                "2026-10-29T09:00+03:00",
                "2026-10-29T22:59+03:00",
                "2026-10-29T23:00+03:00",
            ),
        ] {
            let minute = |text: &str| DateTime::parse_from_str(text, "%Y-%m-%dT%H:%M%z").unwrap().to_utc();
            let (began, before, boundary) = (minute(began), minute(before), minute(boundary));
            let daily = policy(ResetMode::Daily, 0, at_hour);
            assert_eq!(boundary - before, TimeDelta::minutes(1), "{zone} {boundary}");
            assert_eq!(due(&daily, began, before, before, zone), None, "{zone} {before}");
            assert_eq!(
                due(&daily, began, before, boundary, zone),
                Some(ResetReason::Daily),
                "{zone} {boundary}"
            );
            let rest_of_the_day = boundary + TimeDelta::hours(20);
            assert_eq!(due(&daily, boundary, boundary, rest_of_the_day, zone), None, "{zone} {boundary}");
        }
    }

    #[test]
    fn activity_never_pushes_the_daily_boundary() {
        let daily = policy(ResetMode::Daily, 1440, 1);
        let first = at("2026-04-15T00:10:00-05:00");
        let busy = (0..(5 * 72)).map(|n| first + TimeDelta::minutes(20 * n));
        let days = ["15", "16", "17", "18", "19"];
        assert_eq!(
            resets(&daily, Tz::America__Chicago, busy),
            days.map(|day| format!("2026-04-{day}T01:10:00-05:00"))
        );
    }

    #[test]
    fn a_restart_does_not_make_a_session_younger() {
        let both = policy(ResetMode::Both, 60, 4);
        let nine = at("2026-05-18T09:00:00Z");
        let verdict = decide(&rule(both, None), &facts(nine), at("2026-05-18T15:01:00Z"));
        assert_eq!(verdict, Verdict::Reset { reason: ResetReason::Idle });
    }

    #[test]
    fn background_work_blocks_visibly_and_without_limit_by_default() {
        let both = rule(policy(ResetMode::Both, 120, 6), None);
        let noon = at("2026-05-01T12:00:00Z");
        let background = active("sleep 999999", "2026-05-01T12:00:00Z");
        let facts = ResetFacts { background: &background, ..facts(noon) };
        for (now, alarming) in [("2026-05-02T06:01:00Z", false), ("2026-05-03T06:01:00Z", true)] {
            let Verdict::Blocked(block) = decide(&both, &facts, at(now)) else { panic!("not blocked") };
            assert_eq!(block.reason, ResetReason::Idle);
            assert_eq!(block.since, at("2026-05-01T14:00:00Z"), "since it is idle for 120 minutes");
            assert!(matches!(&block.by, Blocker::Background { work } if work[0].what == "sleep 999999"));
            assert_eq!(block.is_alarming(at(now)), alarming, "{now}");
        }
    }

    #[test]
    fn work_older_than_the_limit_stops_blocking() {
        let both = rule(policy(ResetMode::Both, 120, 6), HOURS_24);
        let noon = at("2026-05-01T12:00:00Z");
        let background = active("sleep 999999", "2026-05-01T12:00:00Z");
        let facts = ResetFacts { background: &background, ..facts(noon) };
        let blocked = |now| matches!(decide(&both, &facts, at(now)), Verdict::Blocked(_));
        assert!(blocked("2026-05-02T06:01:00Z"));
        assert!(blocked("2026-05-02T12:00:00Z"), "as old as the limit is not older");
        assert!(!blocked("2026-05-02T12:00:01Z"));
        assert!(!blocked("2026-05-03T06:01:00Z"));
    }

    #[test]
    fn young_work_blocks_beside_work_that_is_too_old() {
        let idle = rule(policy(ResetMode::Idle, 60, 0), HOURS_24);
        let now = at("2026-05-04T12:00:00Z");
        let young = Work { what: "build".to_owned(), since: at("2026-05-04T11:00:00Z") };
        let old = Work { what: "sleep".to_owned(), since: at("2026-05-01T12:00:00Z") };
        let background = Background::Active { work: vec![old, young.clone()] };
        let facts = ResetFacts { background: &background, ..facts(at("2026-05-01T12:00:00Z")) };
        let Verdict::Blocked(block) = decide(&idle, &facts, now) else { panic!("not blocked") };
        assert_eq!(block.by, Blocker::Background { work: vec![young.clone()] });
        assert_eq!(block.since, young.since, "nothing stood against it before");
    }

    #[test]
    fn a_block_by_several_began_with_the_oldest() {
        let idle = rule(policy(ResetMode::Idle, 60, 0), None);
        let work = ["2026-05-04T11:00:00Z", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z"]
            .map(|since| Work { what: "build".to_owned(), since: at(since) });
        let background = Background::Active { work: work.to_vec() };
        let facts = ResetFacts { background: &background, ..facts(at("2026-05-03T12:00:00Z")) };
        let Verdict::Blocked(block) = decide(&idle, &facts, at("2026-05-04T12:00:00Z")) else {
            panic!("not blocked")
        };
        assert_eq!(block.since, at("2026-05-04T09:00:00Z"));
    }

    #[test]
    fn the_guard_fails_closed() {
        let idle = rule(policy(ResetMode::Idle, 60, 0), HOURS_24);
        let since = at("2026-05-01T12:00:00Z");
        let now = at("2026-05-09T12:00:00Z");
        let unknown = Background::Unknown { why: "the process list can't be read".to_owned() };
        let from_the_future = active("clock set back", "2026-05-20T12:00:00Z");
        for background in [&unknown, &from_the_future] {
            let verdict = decide(&idle, &ResetFacts { background, ..facts(since) }, now);
            assert!(matches!(verdict, Verdict::Blocked(_)), "{background:?}: {verdict:?}");
        }
        let nothing = Background::Active { work: Vec::new() };
        let verdict = decide(&idle, &ResetFacts { background: &nothing, ..facts(since) }, now);
        assert_eq!(verdict, Verdict::Reset { reason: ResetReason::Idle });
    }

    #[test]
    fn a_block_is_alarming_after_24_hours() {
        let since = at("2026-05-01T12:00:00Z");
        let block = Block { reason: ResetReason::Daily, by: Blocker::RunningTurn, since };
        assert!(!block.is_alarming(at("2026-05-02T11:59:59Z")));
        assert!(block.is_alarming(at("2026-05-02T12:00:00Z")));
    }

    #[test]
    fn a_fresh_mark_blocks_time_policies_and_a_stale_one_does_not() {
        let idle = rule(policy(ResetMode::Idle, 30, 0), None);
        let (last, now) = (at("2026-05-18T09:00:00Z"), at("2026-05-18T10:01:00Z"));
        let decide = |mark| decide(&idle, &ResetFacts { mark, ..facts(last) }, now);
        assert_eq!(decide(Mark::Stale), Verdict::Reset { reason: ResetReason::Idle });
        let since = at("2026-05-18T09:30:00Z");
        let by = Blocker::ResumePending;
        assert_eq!(decide(Mark::Fresh), Verdict::Blocked(Block { reason: ResetReason::Idle, by, since }));
    }

    #[test]
    fn a_running_turn_is_never_cut_by_a_policy() {
        let daily = rule(policy(ResetMode::Daily, 0, 4), None);
        let since = at("2026-05-17T12:00:00Z");
        let running = ResetFacts { turn: TurnNow::Running, mark: Mark::Fresh, ..facts(since) };
        let Verdict::Blocked(block) = decide(&daily, &running, at("2026-05-18T04:01:00Z")) else {
            panic!("not blocked")
        };
        assert_eq!(block.by, Blocker::RunningTurn);
        // The boundary that passed during the turn counts at the next message.
        let verdict = decide(&daily, &facts(since), at("2026-05-18T04:02:00Z"));
        assert_eq!(verdict, Verdict::Reset { reason: ResetReason::Daily });
    }

    #[test]
    fn nothing_is_blocked_where_no_reset_is_due() {
        let background = active("build", "2026-05-17T12:00:00Z");
        let since = at("2026-05-17T12:00:00Z");
        for policy in [policy(ResetMode::None, 0, 0), policy(ResetMode::Both, 60, 4)] {
            let facts = ResetFacts { background: &background, mark: Mark::Fresh, ..facts(since) };
            let verdict = decide(&rule(policy, None), &facts, at("2026-05-17T12:30:00Z"));
            assert_eq!(verdict, Verdict::Keep, "{policy:?}");
        }
    }

    #[test]
    fn idle_is_more_than_the_minutes_and_is_tested_first() {
        let began = at("2026-05-17T12:00:00Z");
        let last = at("2026-05-18T03:00:00Z");
        let table = [
            (ResetMode::None, "2026-06-18T00:00:00Z", None),
            (ResetMode::Idle, "2026-05-18T04:00:00.000Z", None),
            (ResetMode::Idle, "2026-05-18T04:00:00.001Z", Some(ResetReason::Idle)),
            (ResetMode::Daily, "2026-05-18T03:59:59.999Z", None),
            (ResetMode::Daily, "2026-05-18T04:00:00.000Z", Some(ResetReason::Daily)),
            (ResetMode::Both, "2026-05-18T03:59:59.999Z", None),
            (ResetMode::Both, "2026-05-18T04:00:00.000Z", Some(ResetReason::Daily)),
            (ResetMode::Both, "2026-05-18T04:00:00.001Z", Some(ResetReason::Idle)),
        ];
        for (mode, now, reason) in table {
            let policy = policy(mode, 60, 4);
            assert_eq!(due(&policy, began, last, at(now), Tz::UTC), reason, "{mode} {now}");
        }
    }

    #[test]
    fn a_block_began_when_the_first_clause_came_true() {
        let both = rule(policy(ResetMode::Both, 60, 4), None);
        let unknown = Background::Unknown { why: "no list".to_owned() };
        let facts = ResetFacts {
            last_activity_at: at("2026-05-18T05:00:00Z"),
            background: &unknown,
            ..facts(at("2026-05-17T12:00:00Z"))
        };
        let Verdict::Blocked(block) = decide(&both, &facts, at("2026-05-18T07:00:00Z")) else {
            panic!("not blocked")
        };
        assert_eq!((block.reason, block.since), (ResetReason::Idle, at("2026-05-18T04:00:00Z")));
    }

    #[test]
    fn a_clock_set_back_resets_nothing() {
        let both = policy(ResetMode::Both, 0, 4);
        let later = at("2026-05-18T12:00:00Z");
        assert_eq!(due(&both, later, later, at("2026-05-18T03:00:00Z"), Tz::UTC), None);
    }

    #[test]
    fn a_verdict_travels_as_data() {
        let by = Blocker::Unknown { why: "no list".to_owned() };
        let since = at("2026-05-18T04:00:00Z");
        let verdict = Verdict::Blocked(Block { reason: ResetReason::Daily, by, since });
        let json = serde_json::to_value(&verdict).unwrap();
        assert_eq!(json["verdict"], "blocked");
        assert_eq!(json["by"]["blocker"], "unknown");
        assert_eq!(serde_json::from_value::<Verdict>(json).unwrap(), verdict);
    }

    fn modes() -> impl Strategy<Value = ResetMode> {
        prop::sample::select(&ResetMode::ALL[..])
    }

    prop_compose! {
        fn cases()(
            mode in modes(), idle_minutes in 0u32..3000, at_hour in 0u8..24,
            zone in prop::sample::select(&chrono_tz::TZ_VARIANTS[..]),
            began in 500_000_000i64..2_000_000_000, active in 0i64..300_000, silent in 0i64..300_000,
        ) -> (ResetPolicy, Tz, [Time; 3]) {
            let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
            let times = [at(began), at(began + active), at(began + active + silent)];
            (policy(mode, idle_minutes, at_hour), zone, times)
        }
    }

    proptest! {
        #[test]
        fn without_a_message_a_due_reset_stays_due(
            (policy, zone, [began, last, now]) in cases(), later in 0i64..1_000_000,
        ) {
            if due(&policy, began, last, now, zone).is_some() {
                prop_assert!(due(&policy, began, last, now + TimeDelta::seconds(later), zone).is_some());
            }
        }

        #[test]
        fn both_is_either_and_a_new_id_is_never_due((policy, zone, [began, last, now]) in cases()) {
            let due = |mode| due(&ResetPolicy { mode, ..policy }, began, last, now, zone);
            prop_assert_eq!(due(ResetMode::Both), due(ResetMode::Idle).or(due(ResetMode::Daily)));
            prop_assert_eq!(super::due(&policy, now, now, now, zone), None);
        }

        #[test]
        fn activity_does_not_change_the_daily_decision(
            (policy, zone, [began, last, now]) in cases(),
        ) {
            let daily = ResetPolicy { mode: ResetMode::Daily, ..policy };
            prop_assert_eq!(due(&daily, began, last, now, zone), due(&daily, began, now, now, zone));
        }

        #[test]
        fn no_reset_comes_where_anything_stands_against_it(
            (policy, zone, [began_at, last_activity_at, now]) in cases(),
            running in any::<bool>(), fresh in any::<bool>(), unknown in any::<bool>(),
        ) {
            let background = Background::Unknown { why: "no list".to_owned() };
            let facts = ResetFacts {
                began_at,
                last_activity_at,
                turn: if running { TurnNow::Running } else { TurnNow::None },
                mark: if fresh { Mark::Fresh } else { Mark::Stale },
                background: if unknown { &background } else { &Background::None },
            };
            let verdict = decide(&ResetRule { policy, background_max_age: HOURS_24, zone }, &facts, now);
            match due(&policy, began_at, last_activity_at, now, zone) {
                None => prop_assert_eq!(verdict, Verdict::Keep),
                Some(reason) if !(running || fresh || unknown) => {
                    prop_assert_eq!(verdict, Verdict::Reset { reason });
                }
                Some(reason) => {
                    let Verdict::Blocked(block) = verdict else { panic!("{verdict:?}") };
                    prop_assert_eq!(block.reason, reason);
                    prop_assert!(block.since >= began_at && block.since <= now);
                }
            }
        }
    }
}
