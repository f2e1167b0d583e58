//! A row of the table: what was measured, its baseline, and whether it reaches its aim.

/// The bound of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
    None,
}

/// A value that was measured.
#[derive(Debug)]
pub(crate) struct Measure<'a> {
    pub(crate) what: &'a str,
    pub(crate) of: &'a str,
    pub(crate) value: f64,
    pub(crate) unit: &'a str,
    /// What it is compared with, from the same run.
    pub(crate) baseline: &'a str,
    pub(crate) aim: Aim,
}

pub(crate) fn head() {
    println!(
        "{:<28} {:<46} {:>10} {:>9} {:<7} baseline of this run",
        "measure", "of", "measured", "aim", ""
    );
}

impl Measure<'_> {
    /// Prints the row.
    pub(crate) fn print(&self) {
        let (aim, is_met) = match self.aim {
            Aim::AtMost(most) => (format!("≤ {most}"), Some(self.value <= most)),
            Aim::AtLeast(least) => (format!("≥ {least}"), Some(self.value >= least)),
            Aim::None => (String::new(), None),
        };
        let verdict = match is_met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        let value = format!("{:.2} {}", self.value, self.unit);
        println!(
            "{:<28} {:<46} {:>10} {aim:>9} {verdict:<7} {}",
            self.what,
            self.of,
            value.trim_end(),
            self.baseline
        );
    }
}
