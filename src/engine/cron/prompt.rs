//! The prompt of a run: what the agent reads, in clearly marked parts.

use super::skill::Skill;
use crate::domain::cron::{Definition, JobId, SILENT};

/// So much of another job's output goes into a prompt: the beginning.
const CONTEXT_CHARS: usize = 8_000;
/// So much of the script's output does.
const SCRIPT_CHARS: usize = 64_000;

/// What a prompt is made of.
#[derive(Debug, Default)]
pub(super) struct Materials {
    /// The skills, in the job's order.
    pub(super) skills: Vec<Skill>,
    /// What other jobs said last; none of one that has said nothing yet.
    pub(super) context: Vec<(JobId, Option<String>)>,
    /// What the job's script wrote.
    pub(super) script: Option<String>,
}

/// Writes the prompt of a job's run.
pub(super) fn write(job: &Definition, materials: &Materials) -> String {
    let mut parts = vec![format!(
        "[This is the scheduled task {:?}. Nobody reads along and nobody can answer a question: do the task \
         and give its result as your answer, which is delivered as it is. If there is nothing that anyone \
         needs to hear, answer with {SILENT} alone.]",
        job.name.as_deref().unwrap_or(job.id.as_str())
    )];
    for skill in &materials.skills {
        parts.push(part(&format!("skill {}", skill.name), &skill.text));
    }
    for (from, said) in &materials.context {
        let title = format!("newest output of the task {from}");
        match said {
            Some(said) => parts.push(part(&title, &head(said, CONTEXT_CHARS))),
            None => parts.push(format!("[There is no output of the task {from} yet.]")),
        }
    }
    if let Some(output) = &materials.script {
        let title = format!("output of the script {}", job.script.as_deref().unwrap_or_default());
        parts.push(part(&title, &head(output, SCRIPT_CHARS)));
    }
    if let Some(task) = job.prompt.as_ref().or(job.description.as_ref()) {
        parts.push(part("the task", task));
    }
    parts.join("\n\n")
}

fn part(title: &str, text: &str) -> String {
    format!("[Begin: {title}]\n{}\n[End: {title}]", text.trim_end())
}

/// The beginning of a text, and a word that there was more.
fn head(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((cut, _)) => format!("{}\n[cut here: the first {chars} characters]", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Definition {
        let job = Definition::new("a".parse().unwrap(), "@daily".to_owned());
        Definition { prompt: Some("Look at it.".to_owned()), script: Some("check.sh".to_owned()), ..job }
    }

    #[test]
    fn its_parts_come_in_order_and_are_clearly_marked() {
        let skill = |name: &str| Skill {
            name: name.to_owned(),
            description: String::new(),
            text: format!("use {name}"),
        };
        let materials = Materials {
            skills: vec![skill("one"), skill("two")],
            context: vec![("b".parse().unwrap(), Some("b said".to_owned())), ("c".parse().unwrap(), None)],
            script: Some("7 mails\n".to_owned()),
        };
        let prompt = write(&job(), &materials);
        let (begin, rest) = prompt.split_once("\n\n").unwrap();
        assert!(begin.contains("scheduled task \"a\"") && begin.contains(SILENT));
        assert_eq!(
            rest,
            "[Begin: skill one]\nuse one\n[End: skill one]\n\n\
             [Begin: skill two]\nuse two\n[End: skill two]\n\n\
             [Begin: newest output of the task b]\nb said\n[End: newest output of the task b]\n\n\
             [There is no output of the task c yet.]\n\n\
             [Begin: output of the script check.sh]\n7 mails\n[End: output of the script check.sh]\n\n\
             [Begin: the task]\nLook at it.\n[End: the task]"
        );
    }

    #[test]
    fn the_description_is_the_prompt_where_there_is_none() {
        let told = Definition { prompt: None, description: Some("Look at mail".to_owned()), ..job() };
        assert!(
            write(&told, &Materials::default()).ends_with("[Begin: the task]\nLook at mail\n[End: the task]")
        );
        let both = Definition { description: Some("for mail".to_owned()), ..job() };
        assert!(!write(&both, &Materials::default()).contains("for mail"));
        let name = Definition { name: Some("Mail check".to_owned()), ..job() };
        assert!(write(&name, &Materials::default()).contains("task \"Mail check\""));
    }

    #[test]
    fn of_another_jobs_output_the_first_8000_characters_are_read() {
        let long = |count| Materials {
            context: vec![("b".parse().unwrap(), Some("ü".repeat(count)))],
            ..Materials::default()
        };
        let whole = write(&job(), &long(8_000));
        assert!(whole.contains(&"ü".repeat(8_000)) && !whole.contains("cut here"));
        let cut = write(&job(), &long(8_001));
        assert!(
            cut.contains("ü\n[cut here: the first 8000 characters]\n") && !cut.contains(&"ü".repeat(8_001))
        );
    }
}
