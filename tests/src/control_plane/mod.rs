//! A real control plane on loopback: etcd, API servers, and if asked for the controller manager
//! and the scheduler, each a process of its own that can be killed, paused and rolled.
//!
//! It owns the processes, their certificates, ports, logs and kubeconfigs. When a
//! [`ControlPlane`] is dropped, or its test panics, or the test process is killed, nothing of it
//! remains. It refuses to be a cluster: there is no kubelet, hence no pod ever runs by itself,
//! and without controllers there is not even a default `ServiceAccount`.

mod api_server;
mod binary;
mod builder;
mod certificates;
mod component;
mod controllers;
mod etcd;
mod guard;
mod kubeconfig;
mod process;
mod readiness;
mod running;
mod surroundings;

pub use api_server::ApiServer;
pub use binary::{find_binary, skipped};
pub use builder::Builder;
pub use component::Component;
pub use etcd::Etcd;
pub use running::ControlPlane;
