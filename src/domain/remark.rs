//! The last line of an answer that is not all that was asked for: why, in brackets. It is a part of the answer, so that
//! it goes wherever the answer goes: into the conversation, to the model, into the document of a run.

/// What kept an answer from being whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// A daily limit is reached.
    Held,
    /// It took as many steps as a turn may have.
    Ended,
    /// The model did not end it itself.
    Cut,
    /// It calls tools that it was not offered.
    NotCalled,
}

impl Remark {
    const ALL: [Self; 4] = [Self::Held, Self::Ended, Self::Cut, Self::NotCalled];

    /// The line that is added to the answer; `why` is one line.
    pub fn line(self, why: &str) -> String {
        format!("\n[{}{why}]", self.beginning())
    }

    fn beginning(self) -> &'static str {
        match self {
            Self::Held => "held: ",
            Self::Ended => "ended here: ",
            Self::Cut => "cut here: ",
            Self::NotCalled => "not called, as no tools were offered: ",
        }
    }
}

/// Why an answer is not whole, as its last line says; none where that says nothing of it.
pub fn not_whole(answer: &str) -> Option<&str> {
    let last = answer.trim_end().lines().next_back()?;
    let said = last.strip_prefix('[')?.strip_suffix(']')?;
    Remark::ALL.iter().any(|remark| said.starts_with(remark.beginning())).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_whole_says_why_in_its_last_line() {
        for remark in Remark::ALL {
            let answer = format!("half of it{}\n", remark.line("the reason"));
            assert_eq!(not_whole(&answer), Some(format!("{}the reason", remark.beginning()).as_str()));
        }
        for whole in ["", "all", "[held: x]\nall", "[SILENT]", "[cut here: ", "said [cut here: x]"] {
            assert_eq!(not_whole(whole), None, "{whole:?}");
        }
    }
}
