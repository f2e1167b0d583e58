//! The text of a field by its source: a word that says how it is printed, `text` if there is none, the path of the
//! field, and after a bar what stands for an empty text: `plain spec.minAvailable | N/A`.

use super::builtin::selector_cell;
use super::part::ObjectPart;
use super::table::labels_text;
use jiff::tz::TimeZone;

impl ObjectPart<'_> {
    /// Formats the field of a source.
    pub(crate) fn cell(self, source: &str) -> String {
        let (source, default) = source.split_once(" | ").unwrap_or((source, ""));
        let (word, path) = source.split_once(' ').unwrap_or(("text", source));
        let part = self.at(path);
        let listed = |texts: Vec<&str>| texts.join(",");
        let members = |name| listed(part.items().map(|one| one.at(name).text()).collect());
        match word {
            "plain" => part.plain_or(default),
            "whole" => part.whole().to_string(),
            "bool" => part.holds().to_string(),
            "date" => part.date(),
            "items" => part.items().len().to_string(),
            "members" => part.members().count().to_string(),
            "list" => listed(part.items().map(ObjectPart::text).collect()),
            "names" => members("name"),
            "images" => members("image"),
            "labels" => labels_text(&part.texts()),
            "selector" => selector_cell(part),
            _ => part.text_or(default).to_owned(),
        }
    }

    /// Formats a time as kubectl's pages do, in UTC; a time that is not set is the year 1, as there.
    pub(crate) fn date(self) -> String {
        let Some(time) = self.time() else {
            return "Mon, 01 Jan 0001 00:00:00 +0000".to_owned();
        };
        let time = time.to_zoned(TimeZone::UTC);
        time.strftime("%a, %d %b %Y %H:%M:%S %z").to_string()
    }
}
