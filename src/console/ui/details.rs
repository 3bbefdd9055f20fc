//! The third column of a wide screen: the facts of the session in front.

use super::layout::{PaneArea, from_top};
use super::paint::{Focused, Paint, state_role};
use super::text;
use super::theme::Role;
use crate::console::app::facts;

const LABEL: usize = 12;

pub(super) fn draw(paint: &mut Paint<'_>, area: PaneArea) {
    let model = paint.model;
    paint.title(area.title, Focused::No, "details", "");
    let Some(row) = &model.front_row else {
        return paint.say(area.body, &[("Made by the first message.", Role::Quiet)]);
    };
    let mut rest = area.body;
    for (label, value) in facts::session(model, row) {
        let role = match label {
            "state" | "runs" => state_role(row.row.state),
            "held" | "engine" => Role::Held,
            "last error" => Role::Bad,
            _ => Role::Text,
        };
        let width = usize::from(rest.width).saturating_sub(LABEL + 2);
        let most = usize::from(rest.height);
        for (at, range) in text::wrap(&value, 0, width, most).0.into_iter().enumerate() {
            let label = if at == 0 { label } else { "" };
            paint.row(rest, 0).skip(1).column(label, LABEL, Role::Quiet).put(&value[range], role);
            rest = from_top(rest, 1).1;
        }
    }
}
