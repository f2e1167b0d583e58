//! `kubereel help TOPIC`: what several commands share, without a network.

use crate::arguments;
use crate::command::test::GUIDE;
use crate::command_error::{CommandError, Exit};
use crate::screen::{Console, Style, StyledLine};
use kubereel_history::nearest;

/// Print help about a topic
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// The topic
    #[arg(value_name = "TOPIC")]
    topic: Topic,
}

/// What there is help about that is not a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Topic {
    Time,
    Rules,
    Filter,
    ExitCodes,
}

/// The name of the command, which is not shown: `help TOPIC` is written.
pub(crate) const COMMAND: &str = "topic";

/// Tells whether there is help about a topic of this name.
pub(crate) fn is_topic(name: &str) -> bool {
    <Topic as clap::ValueEnum>::from_str(name, false).is_ok()
}

/// Tells whether a name is probably a misspelled topic.
pub(crate) fn is_near_topic(name: &str) -> bool {
    let topics = <Topic as clap::ValueEnum>::value_variants().iter();
    let names: Vec<String> = topics
        .filter_map(clap::ValueEnum::to_possible_value)
        .map(|value| value.get_name().to_owned())
        .collect();
    !nearest(name, names.iter().map(String::as_str)).is_empty()
}

/// How times are written.
const TIME: &str = "\
A TIME, as in --at, --from and --to, has one of these forms.

A time without an offset is in UTC, as all printed times are. With --tz it is, like a time of day, a \
local time of that zone: --tz Europe/Berlin, or --tz local for the zone of this machine. Every printed \
time of the recording can be given to --at (objects and Events may state earlier ones), and --from T \
includes the changes at T itself. A time of day is one within the recording; one that occurs twice is an \
error that names both. Outside of the recording, --at, and --from and --to of diff, are errors that name \
its bounds; --from and --to of other commands may lie outside of the recording.

";

/// What the table of exit codes does not say.
const EXIT_CODES: &str = "\
record ends with 0 when Ctrl-C (SIGINT), SIGTERM or SIGHUP stops it: the reel is finished. observe ends \
with 0, except 2 for an invalid command line. Commands of kubectl that change a cluster, such as apply, \
delete and config, end with 1; those that read what a recording does not have, such as logs and top, end \
with 4.
";

/// The grammar of filters. Each word of the list is read by a test.
const FILTER: &str = "\
A filter narrows the rows of the screen (kubereel REEL, key /, or --filter). It is words with blanks \
between; every word must hold, but of several namespaces, kinds or states one is enough.

  web                       a text that shows in the row, in any case
  \"a b\"                     a text with blanks, taken as it is
  /web-[0-9]+/              a regular expression, in any case
  ns:shop                   the namespace
  kind:deploy               a resource, by any name that kubectl takes
  bad                       a state of the row, or that a lane had: good, changing, bad, down, absent
  label:app=web             a label selector of kubectl; only in tables
  status.phase!=Running     a field that has or has not a value: =, !=, < or >; only in tables
  !ns:kube-system           whatever follows ! must not hold
";

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let text = match args.topic {
        Topic::Time => format!("{TIME}{}", arguments::forms_help()),
        Topic::Rules => GUIDE.to_owned(),
        Topic::Filter => FILTER.to_owned(),
        Topic::ExitCodes => {
            let codes = Exit::ALL.map(|exit| format!("  {:>3}  {}\n", exit.code(), exit.meaning()));
            format!(
                "Exit codes of every command:\n{}\n{EXIT_CODES}",
                codes.concat()
            )
        }
    };
    // Without a terminal as wide as the help of commands.
    let width = screen.width().unwrap_or(WIDTH);
    for line in text.trim_end().lines() {
        let line_of = StyledLine::of(Style::Plain, line);
        for row in line_of.rows(Some(width), description_column(line), screen.paint()) {
            screen.line(row)?;
        }
    }
    Ok(Exit::Yes)
}

/// The columns of text that is not written to a terminal.
const WIDTH: usize = 100;

/// Finds the column of the description in the row of a table; 0 in other lines.
fn description_column(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let row = line.get(indent..).unwrap_or_default();
    let Some(gap) = row.find("  ").filter(|_| indent > 0) else {
        return indent;
    };
    let rest = row.get(gap..).unwrap_or_default();
    indent + gap + (rest.len() - rest.trim_start().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_filter_is_one() {
        let forms = FILTER.lines().filter(|line| line.starts_with("  "));
        let mut read = 0;
        for line in forms {
            let form = line.trim_start().split("   ").next().expect("a form");
            assert!(kubereel_tui::check_filter(form).is_ok(), "{form}");
            read += 1;
        }
        assert_eq!(read, 9);
        assert!(kubereel_tui::check_filter("label:").is_err());
    }

    #[test]
    fn topics_are_not_commands() {
        for topic in ["time", "rules", "filter", "exit-codes"] {
            assert!(is_topic(topic), "{topic}");
        }
        assert!(!is_topic("get"));
        for near in ["times", "rule", "exit-code"] {
            assert!(is_near_topic(near), "{near}");
        }
        assert!(!is_near_topic("recrod"));
    }
}
