//! Rule files, runs and verdicts of monitortests, over reels that the tests write.

mod rule_files;
mod running;
mod verdicts;
