//! Roles to styles. Views name roles; only this file and the theme files name colours.

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::str::FromStr;

/// What a piece of text is, for a theme to dress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Ordinary text.
    Text,
    /// Beside the point: times, units, hints.
    Quiet,
    /// What a row is about.
    Strong,
    /// Lines between panes.
    Rule,
    /// A pane's title.
    Title,
    /// The title of the pane with the focus.
    TitleFocused,
    /// A tab that is not open.
    Tab,
    /// The open tab.
    TabOpen,
    /// The chosen row, button or entry of the pane with the focus.
    Selected,
    /// The chosen row of a pane without the focus.
    Marked,
    /// Blocks on a person.
    NeedsYou,
    /// A turn runs.
    Runs,
    /// Stands still on purpose.
    Held,
    /// Waits for something.
    Waits,
    /// Nothing to do.
    Idle,
    /// Went well.
    Good,
    /// Put aside, cut, old: look when there is time.
    Warning,
    /// Failed or refused.
    Bad,
    /// The operator's own words.
    You,
    /// The agent.
    Agent,
    /// A tool call.
    Tool,
    /// What the model thought.
    Reasoning,
    /// Words that a newer message replaced or `/undo` hid.
    Replaced,
    /// A key in the footer, help and cards.
    Key,
    /// Text that is being typed.
    Input,
    /// Characters that matched what was typed.
    Match,
    /// The end of a stream that still grows.
    Cursor,
}

const ROLES: usize = Role::Cursor as usize + 1;

/// Whether colours may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// As the theme says.
    On,
    /// `NO_COLOR`: only bold, underline, reverse and the like.
    Off,
}

/// A theme: a style for every role.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    styles: [Style; ROLES],
}

/// The shipped themes, by name; the first is the default.
pub const NAMES: [&str; 4] = ["dark", "light", "high-contrast", "mono"];

const FILES: [&str; 4] = [
    include_str!("../../../assets/themes/dark.toml"),
    include_str!("../../../assets/themes/light.toml"),
    include_str!("../../../assets/themes/high-contrast.toml"),
    include_str!("../../../assets/themes/mono.toml"),
];

impl Theme {
    /// The theme of that name, or why there is none.
    pub fn named(name: &str, colours: Colours) -> Result<Self, ThemeError> {
        let file = NAMES
            .iter()
            .zip(FILES)
            .find_map(|(known, file)| (*known == name).then_some(file))
            .ok_or_else(|| ThemeError::NoSuchTheme(name.to_owned()))?;
        let theme = Self::parse(file)?;
        Ok(match colours {
            Colours::On => theme,
            Colours::Off => theme.without_colours(),
        })
    }

    /// Reads a theme: a table a role, with `fg`, `bg` and modifiers.
    pub fn parse(text: &str) -> Result<Self, ThemeError> {
        let dresses: BTreeMap<Role, Dress> = toml::from_str(text)?;
        let mut styles = [Style::new(); ROLES];
        for (role, dress) in dresses {
            styles[role as usize] = dress.style()?;
        }
        Ok(Self { styles })
    }

    /// A theme without any dress but the reversed selection: what is left when no theme can be read.
    pub fn plain() -> Self {
        let mut styles = [Style::new(); ROLES];
        for role in [Role::Selected, Role::TitleFocused, Role::TabOpen] {
            styles[role as usize] = Style::new().add_modifier(Modifier::REVERSED);
        }
        Self { styles }
    }

    /// The style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    fn without_colours(mut self) -> Self {
        for style in &mut self.styles {
            style.fg = None;
            style.bg = None;
        }
        self
    }
}

/// A role's dress as a theme file writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Dress {
    fg: Option<String>,
    bg: Option<String>,
    bold: Switch,
    dim: Switch,
    italic: Switch,
    underline: Switch,
    reverse: Switch,
    strike: Switch,
}

/// A modifier: off unless the file says `true`.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(transparent)]
struct Switch(bool);

impl Dress {
    fn style(&self) -> Result<Style, ThemeError> {
        let modifiers = [
            (self.bold, Modifier::BOLD),
            (self.dim, Modifier::DIM),
            (self.italic, Modifier::ITALIC),
            (self.underline, Modifier::UNDERLINED),
            (self.reverse, Modifier::REVERSED),
            (self.strike, Modifier::CROSSED_OUT),
        ];
        let on = modifiers.into_iter().filter(|(switch, _)| switch.0).map(|(_, modifier)| modifier);
        let mut style = Style::new().add_modifier(on.collect());
        style.fg = self.fg.as_deref().map(colour).transpose()?;
        style.bg = self.bg.as_deref().map(colour).transpose()?;
        Ok(style)
    }
}

fn colour(name: &str) -> Result<Color, ThemeError> {
    Color::from_str(name).map_err(|_| ThemeError::NoSuchColour(name.to_owned()))
}

/// Why a theme can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ThemeError {
    /// No theme has this name.
    #[error("{0:?} is no theme: one of dark, light, high-contrast, mono")]
    NoSuchTheme(String),
    /// The file can't be read as a theme.
    #[error("the theme can't be read: {0}")]
    File(#[from] toml::de::Error),
    /// A colour that a terminal has no name for.
    #[error("{0:?} is no colour: one of the 16 names (red, light-red, …), a number up to 255, or #rrggbb")]
    NoSuchColour(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIXTEEN: [Color; 17] = [
        Color::Reset,
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];

    fn shipped() -> impl Iterator<Item = (&'static str, Theme)> {
        NAMES.into_iter().map(|name| (name, Theme::named(name, Colours::On).unwrap()))
    }

    #[test]
    fn every_shipped_theme_dresses_every_role_that_must_be_told_apart() {
        for (name, theme) in shipped() {
            for role in [Role::Selected, Role::NeedsYou, Role::Bad, Role::TabOpen, Role::TitleFocused] {
                assert_ne!(theme.style(role), theme.style(Role::Text), "{name}: {role:?}");
            }
        }
    }

    #[test]
    fn shipped_themes_keep_to_the_sixteen_colours_and_leave_dark_grey() {
        for (name, theme) in shipped() {
            for colour in theme.styles.iter().flat_map(|style| [style.fg, style.bg]).flatten() {
                assert!(SIXTEEN.contains(&colour), "{name}: {colour:?}");
                assert_ne!(colour, Color::DarkGray, "{name}");
            }
        }
    }

    #[test]
    fn selection_is_reversed_in_every_theme_with_and_without_colours() {
        for name in NAMES {
            for colours in [Colours::On, Colours::Off] {
                let selected = Theme::named(name, colours).unwrap().style(Role::Selected);
                assert!(selected.add_modifier.contains(Modifier::REVERSED), "{name}");
            }
        }
    }

    #[test]
    fn no_colour_is_left_when_colours_are_off() {
        for name in NAMES {
            let theme = Theme::named(name, Colours::Off).unwrap();
            assert!(theme.styles.iter().all(|style| style.fg.is_none() && style.bg.is_none()));
        }
    }

    #[test]
    fn mono_needs_no_colours() {
        let theme = Theme::named("mono", Colours::On).unwrap();
        assert_eq!(theme, theme.clone().without_colours());
    }

    #[test]
    fn a_wrong_name_role_or_colour_is_told() {
        assert!(Theme::named("pink", Colours::On).unwrap_err().to_string().contains("high-contrast"));
        assert!(Theme::parse("[tetx]\nfg = \"red\"").unwrap_err().to_string().contains("tetx"));
        assert!(Theme::parse("[text]\nfg = \"rde\"").unwrap_err().to_string().contains("rde"));
    }
}
