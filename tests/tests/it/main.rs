//! What more than one crate does together: on the scripted server, on a real control plane, on recordings
//! of other tools. Tests that need a process of their own are binaries beside this one.

mod architecture;
mod control_plane;
mod crash;
mod credentials;
mod deploy;
mod diagnosis;
mod dist;
mod fault_matrix;
mod golden_intervals;
mod healthy_clusters;
mod imported_formats;
mod kubectl_equality;
mod kubectl_tables;
mod monitored;
mod observing;
mod opening;
mod pictures;
mod plane;
mod process_faults;
mod real_faults;
mod record_completeness;
mod recorded_problems;
mod recorder_faults;
mod recordings;
mod restart;
mod rotation;
mod scene;
mod scripted;
mod seeded_loss;
mod size_budget;
mod state_oracle;
mod storm;
mod tui_in_tmux;
mod upgrades;
mod verify;
