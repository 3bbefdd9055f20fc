//! What a session of an agent has used. The cost that an agent tells is the sum of its session. The tokens that it
//! tells at the end of a prompt are, by the protocol's own words, those of the turn and those of the session: agents
//! tell the one or the other, and a turn counts what came to them or all of them.

use super::schema;
use crate::domain::session::{AgentSession, ToldUse, Usage};
use crate::domain::spending::Millionths;

/// What the agent told before, and how it counts.
#[derive(Debug)]
pub(super) struct Sums {
    kept: ToldUse,
    /// Whether the same process told it.
    by_this_process: bool,
    /// How many tokens the agent's window held last, by its own word; none before it says so.
    window: u64,
}

impl Sums {
    /// Those of a session of which an earlier process has told this.
    pub(super) fn after(kept: ToldUse) -> Self {
        Self { kept, by_this_process: false, window: 0 }
    }

    /// What is kept of it, for a later process, with its session.
    pub(super) fn kept_with(&self, agent: &str, session: &schema::SessionId) -> AgentSession {
        AgentSession { agent: agent.to_owned(), id: session.to_string(), told: self.kept }
    }

    /// What came to the cost, by its sum.
    pub(super) fn cost(&mut self, sum: Millionths) -> Millionths {
        let before = std::mem::replace(&mut self.kept.last.cost, sum);
        // A sum that is smaller counts anew.
        sum.checked_sub(before).unwrap_or(sum)
    }

    /// The tokens that a turn has used, by what the agent tells behind it, as far as it tells anything; `window` is how
    /// much its window holds.
    pub(super) fn of_turn(&mut self, tokens: Option<&schema::Usage>, window: Option<u64>) -> Usage {
        self.window = window.unwrap_or(self.window);
        tokens.map(read).map(|told| self.tokens_of(told)).unwrap_or_default()
    }

    fn tokens_of(&mut self, told: Usage) -> Usage {
        let before = self.kept.last;
        self.kept.last = Usage { cost: before.cost, ..told };
        let came = since(told, before);
        let unknown = before.total() == 0 || self.window == 0;
        let is_sum = came.is_some_and(|came| unknown || self.is_of_a_turn(came, told));
        // What an earlier process told may be another sum.
        if !is_sum && self.by_this_process {
            self.kept.by_turn = true;
        }
        self.by_this_process = true;
        came.filter(|_| is_sum && !self.kept.by_turn && self.window > 0).unwrap_or(told)
    }

    /// Whether so much may have come to a sum in a turn, which reads all that the window holds at least once. The sum
    /// itself is more than that.
    fn is_of_a_turn(&self, came: Usage, sum: Usage) -> bool {
        let is_all = [sum.input, sum.total()].contains(&self.window);
        !is_all && came.total() >= self.window / DOUBT
    }
}

/// Windows are estimated: so many times too large at most.
const DOUBT: u64 = 4;

/// What came to sums that were those before; none where one is smaller.
fn since(sum: Usage, before: Usage) -> Option<Usage> {
    Some(Usage {
        input: sum.input.checked_sub(before.input)?,
        output: sum.output.checked_sub(before.output)?,
        cache_read: sum.cache_read.checked_sub(before.cache_read)?,
        cache_write: sum.cache_write.checked_sub(before.cache_write)?,
        cost: 0,
    })
}

/// What is told, by our own meaning of the fields: what came from a cache was read, and thoughts were written. Where
/// the agent's own total adds them to the others, they are not among those.
fn read(told: &schema::Usage) -> Usage {
    let [cache_read, cache_write, thoughts] =
        [told.cached_read_tokens, told.cached_write_tokens, told.thought_tokens]
            .map(Option::unwrap_or_default);
    let all = [told.input_tokens, told.output_tokens, cache_read, cache_write, thoughts];
    let beside = all.into_iter().fold(0, u64::saturating_add) == told.total_tokens;
    let [cached, thoughts] = if beside { [cache_read.saturating_add(cache_write), thoughts] } else { [0, 0] };
    Usage {
        input: told.input_tokens.saturating_add(cached),
        output: told.output_tokens.saturating_add(thoughts),
        cache_read,
        cache_write,
        cost: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What turns count, by what is told behind each: tokens read and written, and how much the window holds.
    fn counted(sums: &mut Sums, told: &[(u64, u64, u64)]) -> Vec<(u64, u64)> {
        let count = |(input, output, window): &(u64, u64, u64)| {
            let tokens = schema::Usage::new(input + output, *input, *output);
            let used = sums.of_turn(Some(&tokens), Some(*window).filter(|window| *window > 0));
            (used.input, used.output)
        };
        told.iter().map(count).collect()
    }

    fn nothing() -> Sums {
        Sums::after(ToldUse::default())
    }

    #[test]
    fn of_sums_a_turn_counts_what_came_to_them() {
        let told = [(1_415, 27, 10_341), (10_362, 54, 17_913), (28_363, 68, 18_130), (37_393, 95, 18_200)];
        let expected = [(1_415, 27), (8_947, 27), (18_001, 14), (9_030, 27)];
        assert_eq!(counted(&mut nothing(), &told), expected);
    }

    #[test]
    fn of_tokens_of_the_turn_all_are_counted() {
        let last_request = [(2_388, 27, 2_388), (9_920, 27, 9_920), (9_955, 2, 9_955), (30_000, 2, 30_000)];
        let counts: Vec<(u64, u64)> = last_request.map(|(input, output, _)| (input, output)).into();
        assert_eq!(counted(&mut nothing(), &last_request), counts);
        let grow_slowly = [(100_000, 10, 90_000), (120_000, 20, 110_000), (400_000, 30, 120_000)];
        let counts: Vec<(u64, u64)> = grow_slowly.map(|(input, output, _)| (input, output)).into();
        assert_eq!(counted(&mut nothing(), &grow_slowly), counts, "what was seen once holds");
        let one_shrinks = [(50_000, 10, 20_000), (20_000, 20, 21_000), (90_000, 30, 22_000)];
        let counts: Vec<(u64, u64)> = one_shrinks.map(|(input, output, _)| (input, output)).into();
        assert_eq!(counted(&mut nothing(), &one_shrinks), counts);
    }

    #[test]
    fn where_nothing_is_said_of_the_window_rather_too_much_is_counted_than_too_little() {
        assert_eq!(counted(&mut nothing(), &[(100, 10, 0), (250, 25, 0)]), [(100, 10), (250, 25)]);
    }

    #[test]
    fn what_a_later_process_tells_is_compared_with_what_an_earlier_one_has_told() {
        let mut sums = nothing();
        counted(&mut sums, &[(1_000, 10, 900), (2_000, 20, 950)]);
        let told = sums.kept;
        let goes_on = counted(&mut Sums::after(told), &[(3_000, 30, 1_000), (4_000, 40, 1_000)]);
        assert_eq!(goes_on, [(1_000, 10), (1_000, 10)]);
        let begins_anew = counted(&mut Sums::after(told), &[(1_100, 10, 1_000), (2_200, 20, 1_050)]);
        assert_eq!(begins_anew, [(1_100, 10), (1_100, 10)]);
        counted(&mut sums, &[(2_100, 10, 1_000)]);
        let by_turn = counted(&mut Sums::after(sums.kept), &[(5_000, 50, 1_000)]);
        assert_eq!(by_turn, [(5_000, 50)], "how it counts is kept as well");
    }

    #[test]
    fn a_cost_is_the_sum_of_a_session_over_all_processes() {
        let mut sums = Sums::after(ToldUse { last: Usage { cost: 5, ..Usage::default() }, by_turn: false });
        assert_eq!([7, 7, 9, 4].map(|sum| sums.cost(sum)), [2, 0, 2, 4]);
    }

    #[test]
    fn what_came_from_a_cache_was_read_and_thoughts_were_written() {
        let told = |total| {
            let told = schema::Usage::new(total, 10, 20).cached_read_tokens(100).cached_write_tokens(200);
            let used = read(&told.thought_tokens(5));
            (used.input, used.output, used.cache_read, used.cache_write)
        };
        assert_eq!(told(335), (310, 25, 100, 200), "told beside the others");
        assert_eq!(told(30), (10, 20, 100, 200), "told as a part of the others");
        assert_eq!(told(0), (10, 20, 100, 200), "the total is missing");
    }
}
