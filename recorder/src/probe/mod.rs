//! Owns the question that is asked every two seconds: how far has the cluster's history come? Its
//! answers bound the time of every change from both sides; where none comes, the API is out. Refuses
//! to conclude anything about events: an outage loses none by itself.

mod ask;
mod class;
mod task;
mod tell;

pub(crate) use task::Prober;
