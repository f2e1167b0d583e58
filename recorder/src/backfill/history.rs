//! Owns the question that is put to a server's history, and its answers. Refuses sockets: `ask` has
//! them, and tests have a history of their own.

/// An object as it was at some revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Its namespace.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// Its uid.
    pub(crate) uid: String,
    /// The version that it had then.
    pub(crate) version: u128,
    /// Its bytes.
    pub(crate) body: Vec<u8>,
}

/// What a history answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// What there was.
    Sights(Vec<Sight>),
    /// That part of the history is gone.
    Lost,
    /// The server does not answer such questions, or not so that the answer could be used.
    Refused(String),
    /// The budget is spent.
    Spent(&'static str),
}

/// A resource's history.
pub(crate) trait History: Send {
    /// Tells what there was under a name at a revision.
    fn object(
        &mut self,
        namespace: &str,
        name: &str,
        at: u128,
    ) -> impl Future<Output = Reply> + Send;

    /// Tells all there was at a revision.
    fn all(&mut self, at: u128) -> impl Future<Output = Reply> + Send;
}
