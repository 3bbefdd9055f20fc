//! The fields of the form.

/// A field of the form, named as in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// A schedule to begin with.
    Preset,
    /// When it is due.
    Schedule,
    /// The zone of its times.
    Timezone,
    /// What it is for.
    Description,
    /// What the agent is told.
    Prompt,
    /// The skills that are loaded.
    Skills,
    /// Who gets the result.
    DeliverTo,
    /// Stands for the rarer ones.
    More,
    /// Whether it fires.
    Enabled,
    /// How often it fires in all.
    Repeat,
    /// What becomes of missed slots.
    Misfire,
    /// What happens while an earlier run works.
    Overlap,
    /// Which session its runs have.
    Session,
    /// A program that runs first.
    Script,
    /// Whether the program's output is the result.
    NoAgent,
    /// The jobs whose output goes into the prompt.
    ContextFrom,
    /// The folder in which it works.
    Workdir,
    /// When a run is stopped.
    Timeout,
    /// How far its fires are set off.
    Jitter,
    /// The agent.
    Agent,
    /// The model.
    Model,
    /// Its name for people.
    Name,
    /// Its name in files, keys and commands.
    Id,
}

/// What a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text of one line.
    Line,
    /// A text of several lines.
    Lines,
    /// One of a list, or what is typed there.
    PickOne,
    /// Some of a list, or what is typed there.
    PickSome,
    /// One of these.
    Choice(&'static [&'static str]),
    /// It folds and opens the rarer fields.
    Fold,
}

/// What a check says.
const NO_YES: &[&str] = &["no", "yes"];

impl Field {
    /// Every field, in the order of the form.
    pub const ALL: [Self; 23] = [
        Self::Preset,
        Self::Schedule,
        Self::Timezone,
        Self::Description,
        Self::Prompt,
        Self::Skills,
        Self::DeliverTo,
        Self::More,
        Self::Enabled,
        Self::Repeat,
        Self::Misfire,
        Self::Overlap,
        Self::Session,
        Self::Script,
        Self::NoAgent,
        Self::ContextFrom,
        Self::Workdir,
        Self::Timeout,
        Self::Jitter,
        Self::Agent,
        Self::Model,
        Self::Name,
        Self::Id,
    ];

    /// What it takes.
    pub fn kind(self) -> Kind {
        match self {
            Self::Schedule | Self::Repeat | Self::Workdir | Self::Timeout | Self::Jitter => Kind::Line,
            Self::Model | Self::Name | Self::Id => Kind::Line,
            Self::Description | Self::Prompt => Kind::Lines,
            Self::Preset | Self::Timezone | Self::Misfire | Self::Script | Self::Agent => Kind::PickOne,
            Self::Skills | Self::DeliverTo | Self::ContextFrom => Kind::PickSome,
            Self::Enabled | Self::NoAgent => Kind::Choice(NO_YES),
            Self::Overlap => Kind::Choice(&["skip", "queue", "allow", "replace"]),
            Self::Session => Kind::Choice(&["fresh", "keep"]),
            Self::More => Kind::Fold,
        }
    }

    /// What stands before it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::Schedule => "schedule",
            Self::Timezone => "zone",
            Self::Description => "description",
            Self::Prompt => "prompt",
            Self::Skills => "skills",
            Self::DeliverTo => "deliver to",
            Self::More => "more",
            Self::Enabled => "enabled",
            Self::Repeat => "repeat",
            Self::Misfire => "missed runs",
            Self::Overlap => "overlap",
            Self::Session => "memory",
            Self::Script => "script",
            Self::NoAgent => "no agent",
            Self::ContextFrom => "reads from",
            Self::Workdir => "work folder",
            Self::Timeout => "time-out",
            Self::Jitter => "set off by",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Name => "name",
            Self::Id => "id",
        }
    }

    /// What it says while it is empty.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Preset => "hourly, daily, weekly",
            Self::Schedule => "daily at 7am, every 2h",
            Self::Timezone => "as set",
            Self::Description => "what for; also a prompt",
            Self::Prompt => "what the agent is told",
            Self::Skills | Self::Script | Self::ContextFrom => "none",
            Self::DeliverTo => "the console",
            Self::Repeat => "for ever; else how often",
            Self::Misfire | Self::Overlap | Self::Session | Self::Enabled | Self::NoAgent | Self::More => "",
            Self::Workdir => "none; else an absolute path",
            Self::Timeout => "none; else minutes",
            Self::Jitter => "none; else up to n seconds",
            Self::Agent | Self::Model => "as set",
            Self::Name => "the id",
            Self::Id => "made from the description",
        }
    }

    /// What stands over its list.
    pub fn offer(self) -> &'static str {
        match self {
            Self::Preset => "A schedule to begin with",
            Self::Timezone => "The zone of its times",
            Self::Skills => "Skills: enter takes or leaves, esc is done",
            Self::DeliverTo => "Who gets the result: enter takes or leaves, or what is typed; esc is done",
            Self::ContextFrom => "The jobs whose newest output it reads: enter takes or leaves, esc is done",
            Self::Misfire => "What becomes of missed slots: one of these, or all:N",
            Self::Script => "The program in scripts/ that runs first",
            Self::Agent => "The agent that runs it",
            _ => "",
        }
    }

    /// Whether it is shown only when asked for.
    pub fn is_rare(self) -> bool {
        self > Self::More && self < Self::Id
    }

    /// The field of a name in the record.
    pub(super) fn of_record(name: &str) -> Option<Self> {
        Some(match name.split('.').next()? {
            "schedule" => Self::Schedule,
            "timezone" => Self::Timezone,
            "description" => Self::Description,
            "prompt" => Self::Prompt,
            "skill" | "skills" => Self::Skills,
            "deliver" | "deliver_to" => Self::DeliverTo,
            "enabled" => Self::Enabled,
            "repeat" => Self::Repeat,
            "misfire" => Self::Misfire,
            "overlap" => Self::Overlap,
            "session" => Self::Session,
            "script" => Self::Script,
            "no_agent" => Self::NoAgent,
            "context_from" => Self::ContextFrom,
            "workdir" => Self::Workdir,
            "timeout_minutes" => Self::Timeout,
            "jitter_seconds" => Self::Jitter,
            "agent" => Self::Agent,
            "model" => Self::Model,
            "name" => Self::Name,
            "id" | "job_id" => Self::Id,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_field_once_and_the_rare_ones_stand_together() {
        assert!(Field::ALL.is_sorted());
        let rare: Vec<Field> = Field::ALL.into_iter().filter(|field| field.is_rare()).collect();
        assert_eq!((rare[0], rare[rare.len() - 1]), (Field::Enabled, Field::Name));
    }
}
