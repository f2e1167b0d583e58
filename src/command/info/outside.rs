//! Owns the lines of the page that say what others told the recorder: the job it belonged to, marks.

use super::page::Page;
use kubereel_history::harmless;

impl Page<'_> {
    pub(super) fn outside(&mut self) {
        let summary = self.summary;
        let labels: Vec<String> = summary
            .labels
            .iter()
            .map(|label| format!("{}={}", harmless(&label.name), harmless(&label.value)))
            .collect();
        if !labels.is_empty() {
            self.push("job", &labels);
        }
        for mark in summary.marks.iter().take(self.most) {
            let parts = [
                self.timeline.written(mark.time),
                harmless(&mark.text).into_owned(),
            ];
            self.push("mark", &parts);
        }
        self.push_rest(summary.marks.len(), "marks");
    }
}
