//! Settings, the home folder and its lock, as an operator meets them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pretty_assertions::assert_eq;
use support::files::{assert_kept, repository};
use switchboard::config::{
    self, Anew, BackendKind, Config, EngineLock, Home, HomeError, Loaded, LockError, OVERRIDES, Origin,
    TABLE, Takes, default_file, effective,
};
use switchboard::domain::approval::Policy;
use switchboard::domain::reset::{Notice, ResetMode, ResetPolicy};

const FILE: &str = "/home/op/.switchboard/config.toml";

fn parse(text: &str) -> Result<Loaded, config::ConfigError> {
    config::parse(text, Path::new(FILE))
}

#[test]
fn the_default_file_in_the_repository_is_made_from_the_table() {
    assert_kept(&repository("assets/config.toml"), &default_file());
}

#[test]
fn the_default_file_sets_nothing() {
    assert_eq!(parse(&default_file()).unwrap(), parse("").unwrap());
}

#[test]
fn each_line_of_the_default_file_is_valid_without_its_comment_sign() {
    let uncommented: Vec<String> = default_file()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => setting.to_owned(),
            _ => line.to_owned(),
        })
        .collect();
    let loaded = parse(&uncommented.join("\n")).unwrap();
    for value in &loaded.values {
        assert!(matches!(value.origin, Origin::Line(_)), "{} does not stand in the file", value.key);
    }
}

#[test]
fn every_setting_reaches_the_configuration() {
    for setting in TABLE {
        let other = match setting.takes {
            Takes::Whole { default, min, .. } => if default == min { min + 1 } else { min }.to_string(),
            Takes::Amount { .. } => "0.25".to_owned(),
            Takes::Switch { default, .. } => (!default).to_string(),
            Takes::Choice { default, words, .. } => {
                format!("{:?}", words.iter().find(|word| **word != default).unwrap())
            }
            Takes::Words { default, .. } => format!("[{:?}]", default[0]),
            Takes::Variable { .. } => "\"OTHER_KEY\"".to_owned(),
            Takes::Platforms { .. } => "[\"elsewhere\"]".to_owned(),
            Takes::Zone { .. } => "\"Pacific/Chatham\"".to_owned(),
            _ => setting.takes.example().unwrap().to_string(),
        };
        let mut text = format!("{} = {other}\n", setting.key);
        if setting.key == "agent.backend" {
            text.push_str("agent.command.argv = [\"x\"]");
        }
        if setting.key == "agent.platforms" {
            text.push_str("agents.coder.backend = \"practice\"");
        }
        let changed = parse(&text).unwrap().config;
        assert_ne!(changed, Config::default(), "{} = {other} changes nothing", setting.key);
    }
}

#[test]
fn every_word_of_a_choice_is_accepted_and_no_other() {
    for setting in TABLE {
        let Takes::Choice { words, put, .. } = setting.takes else { continue };
        let mut config = Config::default();
        for word in words {
            assert!(put(&mut config, word).is_some(), "{} refuses {word}", setting.key);
        }
        assert!(put(&mut config, "nonsense").is_none(), "{} takes nonsense", setting.key);
    }
}

#[test]
fn every_word_of_a_list_is_accepted_alone_and_no_other() {
    for setting in TABLE {
        let Takes::Words { words, .. } = setting.takes else { continue };
        for word in words {
            parse(&format!("{} = [{word:?}]", setting.key)).unwrap();
        }
        parse(&format!("{} = []", setting.key)).unwrap();
        parse(&format!("{} = [\"nonsense\"]", setting.key)).unwrap_err();
    }
}

#[test]
fn the_table_has_its_sections_together_and_no_key_twice() {
    let mut sections: Vec<&str> = TABLE.iter().map(|setting| setting.section()).collect();
    sections.dedup();
    let mut keys: Vec<&str> = TABLE.iter().map(|setting| setting.key).collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
    let count = sections.len();
    sections.sort_unstable();
    sections.dedup();
    assert_eq!(sections.len(), count, "a section stands in two places");
}

#[test]
fn a_wrong_configuration_is_told_with_file_line_key_value_and_what_is_allowed() {
    for file in toml_files("tests/config/invalid") {
        let text = fs::read_to_string(&file).unwrap();
        let error = parse(&text).expect_err(&format!("{} is accepted", file.display())).to_string();
        assert!(!error.contains("secret"), "{}: a secret is shown: {error}", file.display());
        assert_kept(&file.with_extension("txt"), &(error.replace('\u{1b}', "<ESC>") + "\n"));
    }
}

#[test]
fn a_right_configuration_is_taken_over() {
    for file in toml_files("tests/config/valid") {
        let text = fs::read_to_string(&file).unwrap();
        let mut loaded = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        loaded.values.retain(|value| value.origin != Origin::Default);
        let told: Vec<String> = loaded
            .values
            .iter()
            .map(|value| format!("{} = {} ({:?})\n", value.key, value.value.as_ref().unwrap(), value.origin))
            .collect();
        assert_kept(&file.with_extension("txt"), &told.concat());
    }
}

#[test]
fn what_applies_is_printed_as_a_configuration_that_means_the_same() {
    for file in toml_files("tests/config/valid") {
        let loaded = parse(&fs::read_to_string(&file).unwrap()).unwrap();
        let printed = effective(&loaded.values);
        assert_eq!(parse(&printed).unwrap().config, loaded.config, "{}: {printed}", file.display());
    }
}

#[test]
fn what_is_printed_says_which_line_of_the_file_sets_it() {
    let text = "[session_reset]\nat_hour = 6\n[session_reset.platforms.telegram]\nmode = \"daily\"\n[log]\n";
    let printed = effective(&parse(text).unwrap().values);
    let section = "notify_exclude = [\"api_server\", \"webhook\"]\n\n\
        [session_reset.platforms.telegram]\n\
        mode = \"daily\"  # set in line 4\n\
        idle_minutes = 1440\n\
        at_hour = 6  # set in line 2\n\n\
        [engine]\n";
    assert!(printed.contains(section), "{printed}");
}

#[test]
fn a_reset_policy_is_set_for_all_for_a_kind_of_chat_and_for_a_platform() {
    let text = fs::read_to_string(repository("tests/config/valid/session_reset.toml")).unwrap();
    let policies = parse(&text).unwrap().config.session_reset;
    let policy = |key: &str| {
        let ResetPolicy { mode, idle_minutes, at_hour } = policies.policy_for(&key.parse().unwrap());
        (mode, idle_minutes, at_hour)
    };
    assert_eq!(policy("agent:main:local:dm:console"), (ResetMode::Daily, 1440, 6));
    assert_eq!(policy("agent:main:slack:group:g"), (ResetMode::Daily, 1440, 0));
    assert_eq!(policy("agent:main:telegram:group:g"), (ResetMode::Both, 120, 6));
    assert_eq!(policy("agent:main:api_server:dm:a"), (ResetMode::None, 1440, 6));
    assert_eq!(policies.background_max_age, Some(Duration::from_secs(24 * 3600)));
    assert_eq!(policies.notice_for(&"agent:main:webhook:dm:w".parse().unwrap()), Notice::Given);
}

#[test]
fn without_settings_no_session_is_reset_by_time() {
    let policies = Config::default().session_reset;
    assert_eq!(policies.default, ResetPolicy { mode: ResetMode::None, idle_minutes: 1440, at_hour: 4 });
    assert!(policies.by_chat_type.is_empty() && policies.by_platform.is_empty());
    assert_eq!(policies.background_max_age, None);
    for platform in ["api_server", "webhook"] {
        let key = format!("agent:main:{platform}:dm:x").parse().unwrap();
        assert_eq!(policies.notice_for(&key), Notice::Withheld);
    }
}

#[test]
fn each_table_by_name_sets_settings_of_the_section_that_it_stands_in() {
    for overrides in OVERRIDES {
        let expected = match overrides.settings {
            Anew::These(names) => names.len(),
            Anew::AllBut(name) => {
                let but = format!("{}.{name}", overrides.of);
                let within = format!("{}.", overrides.of);
                TABLE.iter().filter(|setting| setting.key.starts_with(&within) && setting.key != but).count()
            }
        };
        assert_eq!(overrides.overridden().count(), expected, "{}", overrides.key);
        let (name, value) = overrides.example;
        let loaded = parse(&format!("{}.{name} = {value}", overrides.key)).unwrap();
        assert_ne!(loaded.config, Config::default(), "{}.{name} changes nothing", overrides.key);
    }
}

#[test]
fn an_agent_by_name_is_whole_and_what_it_leaves_out_is_the_default_ones() {
    let text = fs::read_to_string(repository("tests/config/valid/agents.toml")).unwrap();
    let config = parse(&text).unwrap().config;
    let named = |name: &str| config.agents[&name.parse().unwrap()].clone();
    let (large, coder) = (named("large"), named("coder"));
    assert_eq!((large.backend, large.openai.model.as_str()), (BackendKind::OpenAi, "large"));
    assert_eq!(large.openai.base_url, config.agent.openai.base_url);
    assert_eq!((config.agent.openai.model.as_str(), config.agent.acp.argv.len()), ("small", 0));
    assert_eq!(coder.acp.section.setting("argv"), "agents.coder.acp.argv");
    assert_eq!((coder.backend, coder.acp.argv.len()), (BackendKind::Acp, 2));
    assert_eq!([coder.approvals.acp, coder.approvals.terminal], [Policy::Auto, Policy::Deny]);
    let of = |platform: &str| config.agent_platforms.get(platform).map(ToString::to_string);
    assert_eq!([of("telegram"), of("slack")], [Some("coder".to_owned()), None]);
}

#[test]
fn an_agent_by_name_has_models_of_its_own_beside_the_default_ones() {
    let text = fs::read_to_string(repository("tests/config/valid/agents.toml")).unwrap();
    let loaded = parse(&text).unwrap();
    let large = &loaded.config.agents[&"large".parse().unwrap()].openai;
    assert_eq!(large.models.keys().collect::<Vec<_>>(), ["larger", "shared"]);
    let larger = large.facts_of("larger");
    assert_eq!((larger.context_tokens, larger.price.output), (Some(65536), large.facts.price.output));
    assert!(large.facts.price.output > 0);
    assert_eq!(loaded.config.agent.openai.models.keys().collect::<Vec<_>>(), ["shared"]);
    let told = |key: &str| loaded.values.iter().find(|value| value.key == key).unwrap();
    assert_eq!(told("agents.large.openai.models.\"larger\".context_tokens").origin, Origin::Line(17));
    let inherited = told("agents.large.openai.models.\"larger\".price_output");
    assert_eq!(inherited.origin, Origin::Line(14), "it is as in [agents.large.openai]");
    let problem = parse("[agents.a.openai.models.b]\nprice = 1").unwrap_err().to_string();
    assert!(problem.contains("there is no setting \"agents.a.openai.models.b.price\""), "{problem}");
}

#[test]
fn the_keys_of_all_agents_are_known_to_each() {
    let text = "[agent.openai]\napi_key_file = \"a\"\n[agents.b.openai]\napi_key_env = \"WALRUS\"\napi_key_file = \"/b\"";
    let keys = parse(text).unwrap().config.keys();
    assert_eq!(keys.variables, ["OPENAI_API_KEY", "WALRUS"]);
    assert_eq!(keys.files, [PathBuf::from("/home/op/.switchboard/a"), PathBuf::from("/b")]);
}

#[test]
fn relative_paths_begin_in_the_home() {
    let text = "agent.command.workdir = \"work\"\nagent.openai.api_key_file = \"/etc/key\"";
    let config = parse(text).unwrap().config;
    assert_eq!(config.agent.command.workdir, Some(PathBuf::from("/home/op/.switchboard/work")));
    assert_eq!(config.agent.openai.api_key_file, Some(PathBuf::from("/etc/key")));
}

#[test]
fn a_file_that_is_not_utf8_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, b"# caf\xc3\xa9\n[queue]\n# \xff\n").unwrap();
    let error = config::load(&file).unwrap_err().to_string();
    assert_eq!(error, format!("{}:3: not UTF-8; save the file as UTF-8", file.display()));
}

#[test]
fn a_new_home_is_private_and_has_a_commented_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(&folder.path().join("deep/home"))).unwrap();
    home.create().unwrap();
    for (path, mode) in [
        (home.root().to_path_buf(), 0o700),
        (home.logs(), 0o700),
        (home.exports(), 0o700),
        (home.config_file(), 0o600),
    ] {
        assert_eq!(mode_of(&path), mode, "{}", path.display());
    }
    assert_eq!(fs::read_to_string(home.config_file()).unwrap(), default_file());
    assert_eq!(config::load(&home.config_file()).unwrap().config, Config::default());
}

#[test]
fn an_existing_home_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(folder.path())).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(home.config_file(), "queue.max_items = 3\n").unwrap();
    home.create().unwrap();
    assert_eq!(fs::read_to_string(home.config_file()).unwrap(), "queue.max_items = 3\n");
    assert_eq!(mode_of(folder.path()), 0o750);
}

#[test]
fn a_file_in_place_of_the_home_is_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for named in [file.clone(), file.join("home")] {
        let error = Home::resolve(Some(&named)).unwrap().create().unwrap_err();
        assert!(matches!(&error, HomeError::NotAFolder(path) if *path == file), "{error:?}");
    }
}

#[test]
fn a_second_engine_is_refused_and_told_who_owns_the_home() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(folder.path())).unwrap();
    let at = chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap();
    let first = EngineLock::take(&home, at).unwrap();
    let error = EngineLock::take(&home, at).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "an engine already runs for this home: pid {} since 2023-11-14 22:13:20 UTC; \
             `switchboard` attaches to it, `switchboard stop` stops it",
            std::process::id()
        )
    );
    drop(first);
    EngineLock::take(&home, at).unwrap();
}

#[test]
fn whatever_stands_in_a_leftover_lock_file_means_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(folder.path())).unwrap();
    let at = chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap();
    let alive = std::process::id();
    for leftover in ["", "12", "99999999 2023-11-14T", &format!("{alive} 2023-11-14T22:13:20+00:00\n")] {
        fs::write(home.lock_file(), leftover).unwrap();
        let taken = EngineLock::take(&home, at);
        assert!(taken.is_ok(), "{leftover:?}: {taken:?}");
    }
}

#[test]
fn a_held_lock_without_a_readable_owner_is_still_held() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::resolve(Some(folder.path())).unwrap();
    let at = chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap();
    let _held = EngineLock::take(&home, at).unwrap();
    for hint in ["", "12", "12 2023-11-14T22:13:20+00:00"] {
        fs::write(home.lock_file(), hint).unwrap();
        let error = EngineLock::take(&home, at).unwrap_err();
        assert!(matches!(error, LockError::Held(None)), "{hint:?}: {error:?}");
    }
}

fn toml_files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(repository(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}
