//! What a session of an agent has used. The agent tells sums over all of its turns; a turn counts what came to them.

use super::schema;
use crate::domain::session::Usage;
use crate::domain::spending::Millionths;

/// The sums that a session's agent told last; none in one that was taken up, until it tells them.
#[derive(Debug, Default)]
pub(super) struct Sums {
    cost: Option<Millionths>,
    tokens: Option<Usage>,
}

impl Sums {
    /// Those of a session that begins.
    pub(super) fn nothing() -> Self {
        Self { cost: Some(0), tokens: Some(Usage::default()) }
    }

    /// What came to them since, by new sums, as far as the agent tells any.
    pub(super) fn grown(&mut self, cost: Option<Millionths>, tokens: Option<&schema::Usage>) -> Usage {
        let cost = cost.map(|sum| sum.saturating_sub(self.cost.replace(sum).unwrap_or(sum)));
        let tokens = tokens.map(read).map(|sum| since(sum, self.tokens.replace(sum).unwrap_or(sum)));
        Usage { cost: cost.unwrap_or_default(), ..tokens.unwrap_or_default() }
    }
}

/// What came to sums that were those before. Where one is smaller, the agent has begun to count anew.
fn since(sum: Usage, before: Usage) -> Usage {
    let grown = || {
        Some(Usage {
            input: sum.input.checked_sub(before.input)?,
            output: sum.output.checked_sub(before.output)?,
            cache_read: sum.cache_read.checked_sub(before.cache_read)?,
            cache_write: sum.cache_write.checked_sub(before.cache_write)?,
            cost: 0,
        })
    };
    grown().unwrap_or(sum)
}

fn read(told: &schema::Usage) -> Usage {
    Usage {
        input: told.input_tokens,
        output: told.output_tokens,
        cache_read: told.cached_read_tokens.unwrap_or_default(),
        cache_write: told.cached_write_tokens.unwrap_or_default(),
        cost: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    /// What grows at each of these sums of tokens.
    fn grown(mut sums: Sums, told: &[(u64, u64)]) -> Vec<Usage> {
        let told = told.iter().map(|(input, output)| schema::Usage::new(0, *input, *output));
        told.map(|told| sums.grown(None, Some(&told))).collect()
    }

    #[test]
    fn a_turn_counts_what_came_to_the_sums_of_its_session() {
        let expected = [tokens(100, 10), tokens(150, 15), tokens(0, 0)];
        assert_eq!(grown(Sums::nothing(), &[(100, 10), (250, 25), (250, 25)]), expected);
    }

    #[test]
    fn sums_that_shrink_have_begun_anew() {
        let expected = [tokens(100, 10), tokens(120, 5), tokens(10, 1)];
        assert_eq!(grown(Sums::nothing(), &[(100, 10), (120, 5), (130, 6)]), expected);
    }

    #[test]
    fn what_a_session_that_is_taken_up_had_used_is_not_counted_again() {
        assert_eq!(grown(Sums::default(), &[(100, 10), (130, 12)]), [tokens(0, 0), tokens(30, 2)]);
        let mut sums = Sums::default();
        let costs = [Some(5), None, Some(7)].map(|cost| sums.grown(cost, None).cost);
        assert_eq!(costs, [0, 0, 2]);
    }
}
