//! The options that set a job's fields: one for each row of the table of fields.

use clap::{Arg, ArgMatches, Command};

use crate::domain::cron::{Definition, FIELDS, Fault, Field, JobId, set_field};

/// The fields that were given, in the order of the table.
#[derive(Debug)]
pub(super) struct Fields {
    given: Vec<(&'static str, String)>,
}

impl Fields {
    /// Whether none was given.
    pub(super) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// What was given for a field.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(field, _)| *field == name).map(|(_, text)| text.as_str())
    }

    /// Sets them in a job.
    pub(super) fn set(&self, job: &mut Definition) -> Result<(), Fault> {
        self.given.iter().try_for_each(|(name, text)| set_field(job, name, text))
    }
}

impl clap::FromArgMatches for Fields {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = FIELDS.iter().filter_map(|field| {
            // `add` takes its schedule and its prompt by their places instead.
            let text = matches.try_get_one::<String>(field.name).ok()??;
            Some((field.name, text.clone()))
        });
        Ok(Self { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for Fields {
    fn augment_args(command: Command) -> Command {
        let places: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
        let options = FIELDS.iter().filter(|field| !places.iter().any(|place| place == field.name));
        options.fold(command, |command, field| command.arg(option(field)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(field: &'static Field) -> Arg {
    // A value of another kind is wrong usage; what the rules say of it is the engine's to tell.
    let of_its_kind = |text: &str| {
        let mut scratch = Definition::new(JobId::from_words("", |_| false), String::new());
        let set = set_field(&mut scratch, field.name, text);
        set.map(|()| text.to_owned()).map_err(|fault| fault.why)
    };
    Arg::new(field.name)
        .value_parser(of_its_kind)
        .long(field.name.replace('_', "-"))
        .value_name(field.takes)
        .help(field.help)
        .allow_hyphen_values(true)
}
