//! A real control plane on loopback: etcd, API servers, and if asked for the controller manager and
//! the scheduler, each a process of its own that can be killed, paused and rolled.
//!
//! It owns the processes, their certificates, ports, logs and kubeconfigs. When a [`ControlPlane`]
//! is dropped, or its test panics, or the test process is killed, nothing of it remains. It is not
//! a whole cluster: there is no kubelet, hence no pod ever runs by itself, and without controllers
//! there is not even a default `ServiceAccount`.

mod certificates;
mod component;
mod process;
mod running;

pub use component::ApiServer;
pub use component::Component;
pub use component::Etcd;
pub use running::{Builder, ControlPlane, find_binary, skipped};
