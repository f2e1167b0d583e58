//! The messages of a stream for the supervisor: definitions and API services that appear, and requests to read
//! discovery again.

use crate::discover::{api_service, definition};
use crate::resource::ResourceRole;
use crate::watch::context::DiscoverySighting;
use kubereel_format::EventType;

/// A request to the supervisor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IntakeWishes {
    /// One server had the history that another server had lost.
    pub(crate) has_found_history: bool,
    /// Read discovery again, and check that the cluster is the same.
    pub(crate) wants_discovery: bool,
}

/// The messages of one stream, until they are sent.
#[derive(Debug, Default)]
pub(super) struct SupervisorMessages {
    sightings: Vec<DiscoverySighting>,
    wishes: IntakeWishes,
}

impl SupervisorMessages {
    /// Returns the sightings.
    pub(super) fn take_sightings(&mut self) -> Vec<DiscoverySighting> {
        std::mem::take(&mut self.sightings)
    }

    /// Returns the requests, once.
    pub(super) fn take_wishes(&mut self) -> IntakeWishes {
        std::mem::take(&mut self.wishes)
    }

    /// Another server had a history that was lost.
    pub(super) const fn history_found(&mut self) {
        self.wishes.has_found_history = true;
    }

    /// Discovery may have changed.
    pub(super) const fn ask_discovery(&mut self) {
        self.wishes.wants_discovery = true;
    }

    /// A list of a resource with that role is complete.
    pub(super) fn listed(&mut self, role: ResourceRole) {
        if role == ResourceRole::Definitions {
            self.sightings.push(DiscoverySighting::DefinitionsComplete);
        }
    }

    /// An object of a resource with that role was stored.
    pub(super) fn stored(&mut self, role: ResourceRole, kind: EventType, body: &[u8]) {
        match role {
            ResourceRole::Definitions if kind != EventType::Deleted => {
                if let Some(definition) = definition(body) {
                    let sighting = DiscoverySighting::Definition(Box::new(definition));
                    self.sightings.push(sighting);
                }
            }
            ResourceRole::ApiServices => {
                if let Some(mut service) = api_service(body) {
                    service.is_available &= kind != EventType::Deleted;
                    self.sightings.push(DiscoverySighting::ApiService(service));
                } else {
                    self.ask_discovery();
                }
            }
            ResourceRole::Definitions => self.ask_discovery(),
            ResourceRole::Plain | ResourceRole::Events => {}
        }
    }
}
